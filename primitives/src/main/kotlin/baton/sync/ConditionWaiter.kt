package baton.sync

import baton.waiting.SignalWaiter
import baton.waiting.Waiter
import baton.waiting.coroutine.DispatchedWaiter
import baton.waiting.coroutine.Timeouts
import baton.waiting.coroutine.watchCancellation
import kotlin.coroutines.Continuation
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.intrinsics.suspendCoroutineUninterceptedOrReturn
import kotlin.coroutines.jvm.internal.CoroutineStackFrame
import kotlin.time.Duration
import kotlinx.coroutines.DisposableHandle

/** Gives up the mutex, and suspends until it was signalled and holds the mutex again, or is cancelled and holds it. */
internal suspend fun awaitSignal(condition: ConditionCore): Unit =
    suspendCoroutineUninterceptedOrReturn { caller ->
        ConditionWaiter(condition, caller, signalled = Unit).await(Duration.INFINITE)
    }

/** As the other, but waits no longer than [timeout] for the signal, and answers whether it came. */
internal suspend fun awaitSignal(condition: ConditionCore, timeout: Duration): Boolean =
    suspendCoroutineUninterceptedOrReturn { caller ->
        ConditionWaiter(condition, caller, signalled = true).await(timeout)
    }

/**
 * A coroutine that waits for a signal. Once its [Place] has left the line of the condition it stands in that of the
 * mutex, and nothing but the mutex resumes it; on arrival in its own world the place says why it came. A dispatcher
 * that refuses has it unwind elsewhere, with the mutex.
 */
internal class ConditionWaiter(
    private val condition: ConditionCore,
    private val caller: Continuation<*>,
    private val signalled: Any,
) : DispatchedWaiter(condition.mutex, weight = 1, tag = null, caller.context),
    Runnable {
    private val place = Place()
    private var timer: DisposableHandle? = null

    override val callerFrame: CoroutineStackFrame? get() = caller as? CoroutineStackFrame

    /** The timer and the watch on the job are set before anybody can resume it, who then sees them and can end them. */
    fun await(timeout: Duration): Any? {
        look()
        timer = Timeouts.schedule(timeout, context, this)
        val job = job
        if (job != null) {
            watch = job.watchCancellation(this)
            if (!job.isActive) place.withdraw(CANCELLED)
        }
        val state = condition.enqueue(place)
        if (state == WAITING) return COROUTINE_SUSPENDED
        leave()
        return result(state)
    }

    /** The job begins to be cancelled, or has completed. */
    override fun invoke(cause: Throwable?) {
        place.withdraw(CANCELLED)
    }

    /** The time is over. */
    override fun run() {
        place.withdraw(TIMED_OUT)
    }

    override fun resumeFailed() {}

    /** The waiter holds the mutex. */
    override fun arriveHere(state: Int) {
        leave()
        val ended = place.currentState
        val late = isLate
        if (late && ended == GRANTED) condition.passSignalOn(place)
        @Suppress("UNCHECKED_CAST") // awaitSignal makes the results fit their callers.
        (caller as Continuation<Any?>).resumeWith(runCatching { if (late) throw whyLate() else result(ended) })
    }

    private fun result(state: Int): Any =
        when (state) {
            GRANTED -> signalled
            TIMED_OUT -> false
            FAILED -> throw condition.failure(place)
            else -> throw whyLate()
        }

    override fun leave() {
        super.leave()
        timer?.dispose()
    }

    /** In the line of the condition. GRANTED means signalled. Nobody wakes it: the mutex wakes the coroutine. */
    private inner class Place : SignalWaiter(condition, owner = null) {
        /** Whoever the owner is, the coroutine will be it again. */
        override fun leaveMutex(owner: Any?): Boolean {
            this@ConditionWaiter.tag = owner
            return this@ConditionWaiter.startWaiting()
        }

        override fun trySignal(): Boolean = tryGrant()

        override fun entrant(signalled: Boolean): Waiter = this@ConditionWaiter

        override fun resume(): Boolean = true

        override fun resumeFailed() {}
    }
}
