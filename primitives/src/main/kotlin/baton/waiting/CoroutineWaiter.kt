package baton.waiting

import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.intrinsics.suspendCoroutineUninterceptedOrReturn
import kotlin.coroutines.jvm.internal.CoroutineStackFrame
import kotlin.time.Duration
import kotlinx.coroutines.DisposableHandle

/** Suspends until [core] lets in [weight]. Throws what [WaitCore.failure] says, or that the coroutine is cancelled. */
internal suspend fun awaitGrant(core: WaitCore, weight: Int, tag: Any?): Unit =
    suspendCoroutineUninterceptedOrReturn { caller -> CoroutineWaiter(core, weight, tag, caller, Unit).await() }

/** As the other, but gives up after [timeout] and answers whether it was let in. */
internal suspend fun awaitGrant(core: WaitCore, weight: Int, tag: Any?, timeout: Duration): Boolean =
    suspendCoroutineUninterceptedOrReturn { caller ->
        TimedCoroutineWaiter(core, weight, tag, caller).await(timeout)
    }

/** As the first, but answers what [core] grants, see [WaitCore.grantOf]. */
internal suspend fun <T> awaitValue(core: WaitCore, weight: Int = 1, tag: Any? = null): T =
    suspendCoroutineUninterceptedOrReturn { caller -> CoroutineWaiter(core, weight, tag, caller, Unit).await() }

/** As the other, but gives up after [timeout] and then answers [timedOut]. */
internal suspend fun <T> awaitValue(
    core: WaitCore,
    timeout: Duration,
    weight: Int = 1,
    tag: Any? = null,
    timedOut: Any? = false,
): T =
    suspendCoroutineUninterceptedOrReturn { caller ->
        TimedCoroutineWaiter(core, weight, tag, caller, timedOut).await(timeout)
    }

/**
 * A coroutine that waits. On arrival in its own world it looks at the job before it lets the caller go on. That makes
 * cancellation prompt: a coroutine that was granted and then cancelled before it ran gives the grant back and throws.
 *
 * The job is watched before the waiter is enqueued and looked at once more after that, so that no cancellation falls in
 * between; one that is heard before the waiter is enqueued moves it out of PREPARING and is thrown from [await].
 */
internal open class CoroutineWaiter(
    core: WaitCore,
    weight: Int,
    tag: Any?,
    private val caller: Continuation<*>,
    private val granted: Any,
    private val timedOut: Any? = false,
) : ResumedWaiter(core, weight, tag, caller.context) {
    override val callerFrame: CoroutineStackFrame? get() = caller as? CoroutineStackFrame

    fun await(): Any? {
        val job = job
        if (job != null) {
            watch = job.watchCancellation(this)
            if (!job.isActive) withdraw(CANCELLED)
        }
        val state = core.enqueue(this)
        if (state == WAITING) return COROUTINE_SUSPENDED
        leave()
        if (state == GRANTED) core.arrived(this)
        return result(state)
    }

    /** The job begins to be cancelled, or has completed. */
    final override fun invoke(cause: Throwable?) {
        if (withdraw(CANCELLED) == WAITING) resumeWithdrawn()
    }

    protected fun resumeWithdrawn() {
        if (resumesOnCallersStack) FlatStack.run { resume() } else resume()
    }

    final override fun resumeFailed() {
        resume()
    }

    final override fun arriveHere(state: Int) {
        leave()
        val late = isLate && !(state == GRANTED && core.isFinal(this))
        if (state == GRANTED) {
            if (late) core.giveBack(this) else core.arrived(this)
        }
        @Suppress("UNCHECKED_CAST") // awaitGrant makes the results fit their callers.
        (caller as Continuation<Any?>).resumeWith(runCatching { if (late) throw whyLate() else result(state) })
    }

    final override val confirms: Boolean get() = true

    private fun granted(): Any? = core.grantOf(this, granted)

    private fun result(state: Int): Any? =
        when (state) {
            GRANTED -> granted()
            TIMED_OUT -> timedOut
            FAILED -> throw core.failure(this)
            else -> throw whyLate()
        }

    final override fun whyWithdrawn(): Throwable? =
        if (currentState == TIMED_OUT) null else whyLate()

    final override fun leave() {
        super.leave()
        stopTimer()
    }

    protected open fun stopTimer() {}

    final override val invitable: Boolean get() = true

    final override fun invite(from: WaitCore) {
        // Whoever comes at once claims at once, and that sends the next invitation.
        FlatStack.run { sendInvitation(from) }
    }

    private fun sendInvitation(from: WaitCore) {
        val invitation = Invitation(from)
        try {
            (interceptor?.interceptContinuation(invitation) ?: invitation).resumeWith(RESUMED)
        } catch (e: Throwable) {
            if (invitation.arrived) FlatStack.report(e) else if (from.claim(this)) arriveElsewhere(e)
        }
    }

    /** Asks the waiter into its own world, to take there what is free when it comes. */
    private inner class Invitation(private val from: WaitCore) : Continuation<Unit> {
        override val context: CoroutineContext get() = this@CoroutineWaiter.context
        var arrived = false

        override fun resumeWith(result: Result<Unit>) {
            arrived = true
            if (from.claim(this@CoroutineWaiter)) this@CoroutineWaiter.resumeWith(RESUMED)
        }
    }
}

/** A coroutine that waits for a limited time. */
internal class TimedCoroutineWaiter(
    core: WaitCore,
    weight: Int,
    tag: Any?,
    caller: Continuation<*>,
    timedOut: Any? = false,
) : CoroutineWaiter(core, weight, tag, caller, true, timedOut),
    Runnable {
    private var timer: DisposableHandle? = null

    /** The timer is set before the waiter is enqueued: whoever resumes it then sees it, and can stop it. */
    fun await(timeout: Duration): Any? {
        timer = Timeouts.schedule(timeout, context, this)
        return await()
    }

    /** The time is over. */
    override fun run() {
        if (withdraw(TIMED_OUT) == WAITING) resumeWithdrawn()
    }

    override fun stopTimer() {
        timer?.dispose()
    }
}
