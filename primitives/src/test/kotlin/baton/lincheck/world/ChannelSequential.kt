package baton.lincheck.world

import baton.Priority
import baton.channels.Channel
import baton.channels.ChannelClosedException
import baton.channels.ChannelOrder
import baton.channels.OnFull
import baton.channels.contract.ChannelModel
import baton.channels.contract.ChannelModel.Companion.BUSY
import baton.channels.contract.ChannelModel.Companion.CLOSED
import baton.channels.contract.ChannelModel.Companion.PLACE
import kotlin.coroutines.resume
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.suspendCancellableCoroutine

/** Sequential specification of a [Channel] of numbers: a [ChannelModel]. A thread has one call at a time. */
internal open class ChannelSequential(
    capacity: Int,
    order: ChannelOrder = ChannelOrder.FIFO,
    onFull: OnFull = OnFull.SUSPEND,
) {
    private val model = ChannelModel(capacity, order, onFull, elementsReturn = true)
    private val places = IntArray(THREADS)

    /** The calls that have not gone on yet: they wait, or were completed, or cancelled. */
    private val callers = HashMap<Int, CancellableContinuation<Unit>>()
    private val cancelled = HashSet<Int>()

    fun size() = model.size

    fun waiting() = model.waiting

    suspend fun send(thread: Int, value: Int) = await(thread, model.send(thread, value, Priority.NORMAL))

    suspend fun sendUrgently(thread: Int, value: Int) = await(thread, model.send(thread, value, Priority.CRITICAL))

    fun trySend(value: Int) = orThrow(model.trySend(value, Priority.NORMAL)) != BUSY

    suspend fun receive(thread: Int): Any = await(thread, model.receive(thread))

    suspend fun receiveUpTo(thread: Int, limit: Int): Any =
        try {
            await(thread, model.receiveUpTo(thread, limit))
        } catch (_: ChannelClosedException) {
            emptyList<Int>()
        }

    fun isClosedForReceive() = model.isClosedForReceive

    /** Null also when it is closed. */
    fun tryReceive(): Int? = (model.tryReceive() as? Int).also { resumeCompleted() }

    suspend fun reserve(thread: Int): Any {
        val answer = await(thread, model.reserve(thread, Priority.NORMAL))
        if (answer == SENT) places[thread]++
        return answer
    }

    fun sendReserved(thread: Int, value: Int) {
        if (places[thread] == 0) return
        places[thread]--
        orThrow(if (model.usePlace(value, Priority.NORMAL)) SENT else CLOSED)
    }

    fun leavePlace(thread: Int) {
        if (places[thread] == 0) return
        places[thread]--
        model.leavePlace()
        resumeCompleted()
    }

    /** The pending call of [thread], if there is one. */
    fun cancel(thread: Int) {
        val caller = callers[thread] ?: return
        cancelled += thread
        if (model.withdraw(thread)) caller.resume(Unit)
    }

    fun close(): Boolean = model.close().also { resumeCompleted() }

    fun cancelChannel() {
        model.cancel()
        resumeCompleted()
    }

    private suspend fun await(thread: Int, answer: Any): Any {
        if (answer != BUSY) return sentOr(orThrow(answer))
        resumeCompleted()
        suspendCancellableCoroutine { caller ->
            callers[thread] = caller
            caller.invokeOnCancellation {
                callers -= thread
                model.withdraw(thread)
            }
        }
        callers -= thread
        val isCancelled = cancelled.remove(thread)
        if (!model.isCompleted(thread)) return CANCELLED
        val result = orThrow(model.resume(thread, isCancelled), isCancelled)
        return sentOr(result)
    }

    private fun orThrow(answer: Any, isCancelled: Boolean = false): Any {
        resumeCompleted()
        if (answer != CLOSED) return answer
        return if (isCancelled) CANCELLED else throw ChannelClosedException("")
    }

    private fun sentOr(answer: Any) = if (answer == PLACE) SENT else answer

    private fun resumeCompleted() {
        for ((thread, caller) in callers.toList()) {
            if (caller.isActive && model.isCompleted(thread)) caller.resume(Unit)
        }
    }

    private val state
        get() = listOf(model.state, places.toList(), callers.keys, cancelled)

    override fun equals(other: Any?) = other is ChannelSequential && state == other.state

    override fun hashCode() = state.hashCode()

    companion object {
        const val SENT = ChannelModel.SENT
        const val CANCELLED = ChannelModel.CANCELLED
    }
}
