package baton.waiting

import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.intrinsics.suspendCoroutineUninterceptedOrReturn
import kotlin.coroutines.jvm.internal.CoroutineStackFrame
import kotlin.coroutines.resume
import kotlin.time.Duration
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.DisposableHandle

/** Suspends until [core] lets in [weight]. Throws what [WaitCore.failure] says, or that the coroutine is cancelled. */
internal suspend fun awaitGrant(core: WaitCore, weight: Int, tag: Any?, announced: Boolean): Unit =
    suspendCoroutineUninterceptedOrReturn { caller ->
        val waiter = RestingWaiter.renew(core, weight, tag, caller) ?: CoroutineWaiter(core, weight, tag, caller, Unit)
        waiter.await(announced)
    }

/** As the other, but gives up after [timeout] and answers whether it was let in. */
internal suspend fun awaitGrant(core: WaitCore, weight: Int, tag: Any?, timeout: Duration): Boolean =
    suspendCoroutineUninterceptedOrReturn { caller ->
        TimedCoroutineWaiter(core, weight, tag, caller).await(timeout)
    }

/** As the first, but answers what [core] grants, see [WaitCore.grantOf]. */
internal suspend fun <T> awaitValue(core: WaitCore, weight: Int = 1, tag: Any? = null, announced: Boolean = false): T =
    suspendCoroutineUninterceptedOrReturn { caller ->
        val waiter = RestingWaiter.renew(core, weight, tag, caller) ?: CoroutineWaiter(core, weight, tag, caller, Unit)
        waiter.await(announced)
    }

/** As the other, but gives up after [timeout] and then answers [timedOut]. */
internal suspend fun <T> awaitValue(
    core: WaitCore,
    timeout: Duration,
    weight: Int = 1,
    tag: Any? = null,
    announced: Boolean = false,
    timedOut: Any? = false,
): T =
    suspendCoroutineUninterceptedOrReturn { caller ->
        TimedCoroutineWaiter(core, weight, tag, caller, timedOut).await(timeout, announced)
    }

/**
 * A coroutine that waits. On arrival in its own world it looks at the job before it lets the caller go on. That makes
 * cancellation prompt: whoever was granted and then cancelled before it ran gives the grant back and throws.
 *
 * A wait that ended with a grant leaves its waiter to the coroutine's next wait, with its watch on the job and its
 * wrapper (see [RestingWaiter]): then waiting allocates nothing.
 *
 * The job is watched before the waiter is enqueued and looked at once more after that, so that no cancellation falls in
 * between; one that is heard before the waiter is enqueued moves it out of PREPARING and is thrown from [await].
 */
internal open class CoroutineWaiter(
    core: WaitCore,
    weight: Int,
    tag: Any?,
    private var caller: Continuation<*>?,
    private val granted: Any,
    private val timedOut: Any? = false,
) : ResumedWaiter(core, weight, tag, caller!!.context) {
    /** Where the waiter rests, or did when it last rested. The thread of the arrival's alone. */
    @JvmField internal var restingPlace: RestingWaiter? = null

    override val callerFrame: CoroutineStackFrame? get() = caller as? CoroutineStackFrame

    fun await(announced: Boolean): Any? {
        val job = job
        if (job != null) {
            if (watch == null) watch = job.watchCancellation(this)
            if (!job.isActive) {
                withdraw(CANCELLED)
                if (announced) core.unannounce(weight)
                leave()
                throw job.whyCancelled()
            }
        }
        val state = core.enqueue(this, announced)
        if (state == WAITING) return COROUTINE_SUSPENDED
        if (state == GRANTED && mayRest()) return granted().also { restInPlace() }
        leave()
        return result(state)
    }

    /** For the next wait of the same coroutine. */
    internal fun renew(core: WaitCore, weight: Int, tag: Any?, caller: Continuation<*>) {
        this.core = core
        this.weight = weight
        this.tag = tag
        this.caller = caller
    }

    /** The job begins to be cancelled, or has completed. */
    final override fun invoke(cause: Throwable?) {
        when (withdraw(CANCELLED)) {
            WAITING -> resumeWithdrawn()
            RESTING -> retire()
        }
    }

    /** Its job has come to an end, or its place is taken by another. */
    internal fun retire() {
        if (tryRetire()) leave()
    }

    protected fun resumeWithdrawn() {
        if (resumesOnCallersStack) FlatStack.run { resume() } else resume()
    }

    final override fun resumeFailed() {
        resume()
    }

    final override fun arriveHere() {
        val state = currentState
        val late = isLate && !(state == GRANTED && core.isFinal(this))
        @Suppress("UNCHECKED_CAST") // awaitGrant makes the results fit their callers.
        val caller = caller as Continuation<Any?>
        if (state == GRANTED && !late && mayRest()) {
            val value = granted()
            restInPlace()
            caller.resume(value)
            return
        }
        leave()
        if (late && state == GRANTED) core.giveBack(this)
        caller.resumeWith(runCatching { if (late) throw whyLate() else result(state) })
    }

    /** Without a job to hear of its end, or with an interceptor that counts what it wrapped, it serves once. */
    protected open fun mayRest(): Boolean = job != null && interceptor is CoroutineDispatcher

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

    private fun restInPlace() {
        caller = null
        tag = null
        reason = null
        core = NoCore
        if (!RestingWaiter.rest(this)) return leave()
        // A cancellation since the last look found nothing to cancel, and will not be heard again.
        if (job?.isActive == false) retire()
    }

    final override fun leave() {
        super.leave()
        stopTimer()
        restingPlace?.forget(this)
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
            (interceptor?.interceptContinuation(invitation) ?: invitation).resumeWith(ARRIVED)
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
            if (from.claim(this@CoroutineWaiter)) this@CoroutineWaiter.resumeWith(ARRIVED)
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
    fun await(timeout: Duration, announced: Boolean = false): Any? {
        timer = Timeouts.schedule(timeout, context, this)
        return await(announced)
    }

    /** The time is over. */
    override fun run() {
        if (withdraw(TIMED_OUT) == WAITING) resumeWithdrawn()
    }

    override fun mayRest(): Boolean = false

    override fun stopTimer() {
        timer?.dispose()
    }
}
