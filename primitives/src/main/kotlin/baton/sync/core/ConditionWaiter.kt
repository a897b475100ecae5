@file:JvmSynthetic

package baton.sync.core

import baton.waiting.SignalWaiter
import baton.waiting.Waiter
import baton.waiting.coroutine.DispatchedWaiter
import baton.waiting.coroutine.explored
import baton.waiting.coroutine.isExplored
import baton.waiting.coroutine.watchCancellation
import baton.waiting.holders.makeKnown
import baton.waiting.threads.Timeouts
import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.intrinsics.suspendCoroutineUninterceptedOrReturn
import kotlin.coroutines.jvm.internal.CoroutineStackFrame
import kotlin.time.Duration
import kotlinx.coroutines.DisposableHandle

/** Releases the mutex, and suspends until the caller was signalled or cancelled and holds the mutex again. */
internal suspend fun awaitSignal(condition: ConditionCore): Unit = suspendCoroutineUninterceptedOrReturn { caller ->
    ConditionWaiter(condition, caller, signalled = Unit).await(Duration.INFINITE)
}

/** As the other, but waits [timeout] at most for the signal, and returns whether it came. */
internal suspend fun awaitSignal(condition: ConditionCore, timeout: Duration): Boolean =
    suspendCoroutineUninterceptedOrReturn { caller ->
        ConditionWaiter(condition, caller, signalled = true).await(timeout)
    }

/**
 * A coroutine that waits for a signal. Once its [Entry] has left the condition's queue, the coroutine itself is in the
 * mutex's queue, and only the mutex resumes it; when its dispatcher runs it, the state of the entry says why the wait
 * ended. If the dispatcher refuses to resume it, the coroutine unwinds on another dispatcher, holding the mutex.
 */
internal class ConditionWaiter(
    private val condition: ConditionCore,
    private val caller: Continuation<*>,
    private val signalled: Any,
) : DispatchedWaiter(condition.mutex, number = 1, request = null, caller.context), Runnable {
    private val entry = Entry()
    private var timer: DisposableHandle? = null

    override val callerFrame: CoroutineStackFrame?
        get() = caller as? CoroutineStackFrame

    override val call: String
        get() = condition.callOf(entry)

    /**
     * Sets the timer and the watch on the job before the enqueue: the thread that resumes the waiter can dispose of
     * both.
     */
    fun await(timeout: Duration): Any? =
        if (isExplored()) explored(this, caller) { awaitNow(timeout) } else awaitNow(timeout)

    private fun awaitNow(timeout: Duration): Any? {
        core.makeKnown(this)
        timer = Timeouts.schedule(timeout, context, this)
        val job = job
        if (job != null) {
            watch = job.watchCancellation(this)
            if (!job.isActive) entry.withdraw(CANCELLED)
        }
        val state = condition.enqueue(entry)
        if (state == WAITING) return COROUTINE_SUSPENDED
        leave()
        return result(state)
    }

    /** The job begins to be cancelled, or has completed. */
    override fun invoke(cause: Throwable?) {
        entry.withdraw(CANCELLED)
    }

    /** The time is over. */
    override fun run() {
        entry.withdraw(TIMED_OUT)
    }

    override fun resumeFailed() {}

    /** The waiter holds the mutex. */
    override fun arriveHere(state: Int) {
        leave()
        val ended = entry.currentState
        val late = isLate
        if (late && ended == GRANTED) condition.passSignalOn(entry)
        @Suppress("UNCHECKED_CAST") // awaitSignal makes the results fit their callers.
        (caller as Continuation<Any?>).resumeWith(runCatching { if (late) throw whyLate() else result(ended) })
    }

    private fun result(state: Int): Any =
        when (state) {
            GRANTED -> signalled
            TIMED_OUT -> false
            FAILED -> throw condition.failure(entry)
            else -> throw whyLate()
        }

    override fun leave() {
        super.leave()
        timer?.dispose()
    }

    /** The waiter in the condition's queue. GRANTED means signalled. It is not woken: the mutex wakes the coroutine. */
    private inner class Entry : SignalWaiter(condition, owner = null) {
        override val coroutine: CoroutineContext
            get() = context

        /** Accepts any [owner]: the coroutine locks the mutex with the same one again. */
        override fun leaveMutex(owner: Any?): Boolean {
            request = owner
            this@ConditionWaiter.request = owner
            return this@ConditionWaiter.startWaiting()
        }

        override fun signal() = grantQueued()

        override fun entrant(signalled: Boolean): Waiter = this@ConditionWaiter

        override fun resume(): Boolean = true

        override fun resumeFailed() {}
    }
}
