package baton.lincheck.world

import baton.channels.Channel
import baton.channels.ChannelClosedException
import baton.channels.OnFull
import kotlin.coroutines.resume
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.suspendCancellableCoroutine

/** Sequential specification of a [Channel] of numbers. The higher the level, the less urgent. */
internal open class ChannelSequential(
    private val capacity: Int,
    private val onFull: OnFull = OnFull.SUSPEND,
) {
    private class Element(val value: Int, val level: Int) {
        val state get() = value to level
    }

    private enum class Kind { SEND, RECEIVE, RESERVE }

    /** A call that waits, or was decided and has not gone on yet. */
    private class Call(val kind: Kind, val thread: Int, val element: Element?) {
        var isCancelled = false
        var answer: Any? = null
        lateinit var caller: CancellableContinuation<Any>

        val state get() = listOf(kind, thread, element?.state, isCancelled, answer)
    }

    private val inside = ArrayList<Element>()

    /** Elements that receivers gave back, with the numbers under which they had received them. */
    private val returned = ArrayList<Pair<Int, Int>>()
    private var reserved = 0
    private val places = IntArray(THREADS)
    private val receivers = ArrayList<Call>()
    private val senders = ArrayList<Call>()
    private val decided = ArrayList<Call>()
    private var number = 0
    private var isClosed = false
    private var isCancelled = false

    private val held get() = inside.size + returned.size
    private val drops get() = onFull != OnFull.SUSPEND
    private val room get() = capacity + receivers.size - held - if (drops) 0 else reserved
    private val isDrained get() = isCancelled || (isClosed && held == 0 && reserved == 0)

    fun size() = held

    fun waiting() = receivers.size + senders.size

    suspend fun send(thread: Int, value: Int) = send(thread, Element(value, level = 1))

    suspend fun sendUrgently(thread: Int, value: Int) = send(thread, Element(value, level = 0))

    private suspend fun send(thread: Int, element: Element): Any {
        if (accept(element)) return SENT
        return Call(Kind.SEND, thread, element).await(senders)
    }

    fun trySend(value: Int) = accept(Element(value, level = 1))

    suspend fun receive(thread: Int): Any = poll() ?: Call(Kind.RECEIVE, thread, null).await(receivers)

    /** Null also when closed: while an element is on its way to a receiver, the channel does not say so yet. */
    fun tryReceive(): Int? = if (isDrained) null else poll()

    private fun poll(): Int? = if (receivers.isEmpty()) take()?.second else null

    suspend fun reserve(thread: Int): Any {
        if (isClosed) throw ChannelClosedException("")
        val answer =
            if (drops || room > 0) {
                reserved++
                SENT
            } else {
                Call(Kind.RESERVE, thread, null).await(senders)
            }
        if (answer == SENT) places[thread]++
        return answer
    }

    fun sendReserved(thread: Int, value: Int) {
        if (places[thread] == 0) return
        places[thread]--
        if (isCancelled) throw ChannelClosedException("")
        reserved--
        put(Element(value, level = 1))
        endIfDrained()
    }

    fun leavePlace(thread: Int) {
        if (places[thread] == 0) return
        places[thread]--
        giveUpPlace()
    }

    private fun giveUpPlace() {
        reserved--
        advance()
        endIfDrained()
    }

    /** The pending call of [thread], if there is one. */
    fun cancel(thread: Int) {
        val call = (receivers + senders + decided).find { it.thread == thread } ?: return
        call.isCancelled = true
        if (receivers.remove(call) || senders.remove(call)) tell(call, CANCELLED)
    }

    fun close(): Boolean {
        if (isClosed) return false
        isClosed = true
        tellAll(senders, CLOSED)
        endIfDrained()
        return true
    }

    fun cancelChannel() {
        isCancelled = true
        inside.clear()
        returned.clear()
        close()
        endIfDrained()
    }

    private suspend fun Call.await(line: MutableList<Call>): Any {
        if (isClosed && (kind != Kind.RECEIVE || isDrained)) throw ChannelClosedException("")
        line += this
        if (kind == Kind.RECEIVE) {
            if (receivers.size > 1) take()?.let(::handOver)
            advance()
        }
        val told =
            suspendCancellableCoroutine { caller ->
                this.caller = caller
                caller.invokeOnCancellation { line -= this }
            }
        decided -= this
        if (told == SENT && kind == Kind.SEND) return SENT
        if (isCancelled) {
            if (told == SENT) giveUpPlace()
            if (told is Pair<*, *>) putBack(told)
            return CANCELLED
        }
        if (told == CLOSED) throw ChannelClosedException("")
        return if (told is Pair<*, *>) told.second!! else told
    }

    private fun tell(call: Call, answer: Any) {
        call.answer = answer
        decided += call
        call.caller.resume(answer)
    }

    private fun tellAll(line: MutableList<Call>, answer: Any) {
        val all = line.toList()
        line.clear()
        for (call in all) tell(call, answer)
    }

    private fun accept(element: Element): Boolean {
        if (isClosed) throw ChannelClosedException("")
        when {
            room > 0 -> put(element)
            onFull == OnFull.SUSPEND -> return false
            onFull == OnFull.DROP_OLDEST && held > 0 -> {
                inside += element
                dropSurplus()
            }
        }
        return true
    }

    private fun put(element: Element) {
        if (!handOver(++number to element.value)) inside += element
    }

    private fun handOver(received: Pair<Int, Int>): Boolean {
        val receiver = receivers.removeFirstOrNull() ?: return false
        tell(receiver, received)
        return true
    }

    private fun advance() {
        while (room > 0) {
            val sender = nextSender() ?: return
            senders -= sender
            tell(sender, SENT)
            if (sender.element == null) reserved++ else put(sender.element)
        }
    }

    private fun nextSender() = senders.minByOrNull { it.element?.level ?: 1 }

    private fun take(): Pair<Int, Int>? {
        if (held > 0) return removeFirst().also { advance() }
        if (isDrained) throw ChannelClosedException("")
        val sender = nextSender()?.takeIf { it.kind == Kind.SEND } ?: return null
        senders -= sender
        tell(sender, SENT)
        return ++number to sender.element!!.value
    }

    private fun removeFirst(): Pair<Int, Int> {
        if (returned.size > 0) return returned.removeAt(0)
        val first = inside.minBy { it.level }
        inside -= first
        return ++number to first.value
    }

    private fun putBack(received: Pair<*, *>) {
        if (isCancelled || handOver(received.first as Int to received.second as Int)) return
        returned += received.first as Int to received.second as Int
        returned.sortBy { it.first }
        if (onFull == OnFull.DROP_OLDEST) dropSurplus()
    }

    private fun dropSurplus() {
        while (held > capacity) if (returned.size > 0) returned.removeAt(0) else inside.removeAt(0)
    }

    private fun endIfDrained() {
        if (isDrained) tellAll(receivers, CLOSED)
    }

    private val state
        get() = listOf(
            inside.map { it.state },
            returned,
            reserved,
            places.toList(),
            receivers.map { it.state },
            senders.map { it.state },
            decided.map { it.state }.toSet(),
            isClosed,
            isCancelled,
        )

    override fun equals(other: Any?) = other is ChannelSequential && state == other.state

    override fun hashCode() = state.hashCode()

    companion object {
        const val SENT = "sent"
        const val CANCELLED = "cancelled"
        private const val CLOSED = "closed"
    }
}
