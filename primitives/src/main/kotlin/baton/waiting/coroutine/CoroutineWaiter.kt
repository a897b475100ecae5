package baton.waiting.coroutine

import baton.waiting.Gate
import baton.waiting.KnownCaller
import baton.waiting.WaitCore
import baton.waiting.flight.FlightEvents
import baton.waiting.flight.WaitEvent
import baton.waiting.threads.Timeouts
import baton.waiting.threads.Trampoline
import java.lang.ref.WeakReference
import java.util.concurrent.atomic.AtomicReference
import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.intrinsics.suspendCoroutineUninterceptedOrReturn
import kotlin.coroutines.jvm.internal.CoroutineStackFrame
import kotlin.coroutines.resume
import kotlin.time.Duration
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.NonCancellable

/**
 * Suspends until [core] grants [request]. Throws [WaitCore.failure], or that the coroutine is cancelled.
 *
 * @param by the caller, if it is known already.
 */
internal suspend fun awaitGrant(core: WaitCore, number: Int = 1, request: Any? = null, by: KnownCaller? = null): Unit =
    suspendCoroutineUninterceptedOrReturn { caller ->
        val waiter = coroutineWaiter(core, number, request, caller)
        if (by != null) waiter.outcome = by
        waiter.await()
    }

/** As the other, but gives up after [timeout] and returns whether it was granted. */
internal suspend fun awaitGrant(
    core: WaitCore,
    number: Int = 1,
    request: Any? = null,
    timeout: Duration,
    by: KnownCaller? = null,
): Boolean = suspendCoroutineUninterceptedOrReturn { caller ->
    val waiter = TimedCoroutineWaiter(core, number, request, caller)
    if (by != null) waiter.outcome = by
    waiter.await(timeout)
}

/** As the first, but returns what [core] grants, see [WaitCore.grantOf]. */
internal suspend fun <T> awaitValue(core: WaitCore, number: Int = 1, request: Any? = null): T =
    suspendCoroutineUninterceptedOrReturn { caller ->
        coroutineWaiter(core, number, request, caller).await()
    }

/** As the other, but gives up after [timeout] and then returns [timedOut]. */
internal suspend fun <T> awaitValue(
    core: WaitCore,
    timeout: Duration,
    number: Int = 1,
    request: Any? = null,
    timedOut: Any? = false,
): T = suspendCoroutineUninterceptedOrReturn { caller ->
    TimedCoroutineWaiter(core, number, request, caller, timedOut).await(timeout)
}

/** Waits until this is passing. */
internal suspend fun Gate.awaitPassing() {
    if (isExplored() || !isPassing) awaitGrant(this)
}

/** As the other, [timeout] at most; returns whether it was passing in time. */
internal suspend fun Gate.awaitPassing(timeout: Duration): Boolean {
    if (!isExplored(timeout) && isPassing) return true
    if (timeout <= Duration.ZERO) return false
    return awaitGrant(this, timeout = timeout)
}

private fun coroutineWaiter(core: WaitCore, number: Int, request: Any?, caller: Continuation<*>): CoroutineWaiter =
    WaiterCache.take(caller.context)?.also { it.reuse(core, number, request, caller) }
        ?: CoroutineWaiter(core, number, request, caller, Unit)

/**
 * A coroutine that waits. On arrival on its dispatcher it looks at the job before it resumes the caller. That makes
 * cancellation prompt: a coroutine that was granted and then cancelled before it ran gives the grant back and throws.
 *
 * The job is watched before the waiter is enqueued, and [jobEnds] is read once more after that, so that no cancellation
 * is missed. A cancellation before the waiter is enqueued moves it out of PREPARING and is thrown from [await].
 *
 * A wait that ends with a grant leaves the waiter and its wrapper to the coroutine's next wait (see [WaiterCache]).
 */
internal open class CoroutineWaiter(
    core: WaitCore,
    number: Int,
    request: Any?,
    caller: Continuation<*>,
    private val granted: Any,
    private val timedOut: Any? = false,
) : DispatchedWaiter(core, number, request, caller.context) {
    /** Null while the waiter is cached. */
    private var caller: Continuation<*>? = caller

    // Where it is at rest: see WaiterCache.
    @JvmField internal var slot: AtomicReference<CoroutineWaiter?>? = null
    @JvmField internal var reference: WeakReference<CoroutineWaiter>? = null

    /**
     * Whether the handler on the job was called. Where jobs of several kinds are in use, the JIT compiler inlines no
     * look at [Job.isActive]; so only the arrival, which has to be exact, looks there.
     */
    @Volatile private var jobEnds: Boolean = false

    override val callerFrame: CoroutineStackFrame?
        get() = caller.let { if (it is RecordedWait) it.caller else it } as? CoroutineStackFrame

    fun await(): Any? {
        val caller = caller
        if (caller != null && isExplored()) return explored(this, caller, ::awaitUnchecked)
        val event = FlightEvents.newWait()
        if (caller != null && event != null) this.caller = recorded(caller, event)
        if (watch == null) watchJob()
        if (jobEnds) withdraw(CANCELLED)
        return enqueue()
    }

    /**
     * While exploring, which skips the fast path: it does not check for cancellation first, because the fast path does
     * not either.
     */
    private fun awaitUnchecked(): Any? {
        if (watch == null) watchJob()
        return enqueue()
    }

    private fun enqueue(): Any? {
        val state =
            try {
                core.enqueue(this)
            } catch (e: Throwable) { // Of the user's code, or for want of stack. The job may live long.
                withdraw(CANCELLED)
                leave()
                throw e
            }
        if (state == WAITING) {
            // A canceller that saw the waiter at rest, in the cache, has not withdrawn it.
            if (jobEnds) cancelWait()
            return COROUTINE_SUSPENDED
        }
        if (state != GRANTED) {
            leave()
            return result(state)
        }
        core.arrived(this)
        leaveForArrival()
        return granted().also { retire() }
    }

    @Suppress("UNCHECKED_CAST") // awaitGrant makes the results fit their callers.
    private fun recorded(caller: Continuation<*>, event: WaitEvent) =
        RecordedWait(this, caller as Continuation<Any?>, event)

    private fun watchJob() {
        val job = job ?: return
        watch = job.watchCancellation(this)
        if (!job.isActive) jobEnds = true
    }

    /** The job begins to be cancelled, or has completed. */
    final override fun invoke(cause: Throwable?) {
        jobEnds = true
        cancelWait()
        WaiterCache.forget(this)
    }

    private fun cancelWait() {
        if (withdraw(CANCELLED) == WAITING) resumeWithdrawn()
    }

    protected fun resumeWithdrawn() {
        Timeouts.offSharedTimer { if (resumesOnCallersStack) Trampoline.run { resume() } else resume() }
    }

    final override fun resumeFailed() {
        resume()
    }

    final override fun arriveHere(state: Int) {
        @Suppress("UNCHECKED_CAST") // awaitGrant makes the results fit their callers.
        val caller = caller as Continuation<Any?>
        val late = isLate && !(state == GRANTED && core.isFinal(this))
        if (state == GRANTED && !late) {
            core.arrived(this)
            val value = granted()
            retire()
            caller.resume(value)
            return
        }
        leave()
        if (state == GRANTED) core.giveBack(this)
        if (state == TIMED_OUT && caller is RecordedWait) caller.isLate = true
        caller.resumeWith(runCatching { if (late) throw whyLate() else resultAfterWait(state) })
    }

    /** Called when it has arrived with its grant. */
    private fun retire() {
        if (!mayBeReused || jobEnds) return leave()
        core = WaiterCache.noCore
        request = null
        caller = null
        place = null
        outcome = null
        countWait()
        try {
            WaiterCache.put(this)
        } catch (_: Throwable) {
            // For want of memory or stack. The wait has ended all the same, and the next one watches the job anew.
            unwatch()
        }
        // The handler, which runs once, may have come before the waiter was in the slot.
        if (jobEnds) WaiterCache.forget(this)
    }

    internal fun newReference(): WeakReference<CoroutineWaiter> = WeakReference(this).also { reference = it }

    /**
     * Without a job there may be no coroutine, NonCancellable does not tell its end, and an interceptor of users may
     * count what it has wrapped.
     */
    protected open val mayBeReused: Boolean
        get() = job != null && job !== NonCancellable && interceptor is CoroutineDispatcher && !servesOnce

    /** For the next wait of the same coroutine. */
    internal fun reuse(core: WaitCore, number: Int, request: Any?, caller: Continuation<*>) {
        this.core = core
        this.number = number
        this.request = request
        this.caller = caller
    }

    final override val confirms: Boolean
        get() = true

    private fun granted(): Any? = core.grantOf(this, granted)

    private fun result(state: Int): Any? =
        when (state) {
            GRANTED -> granted()
            TIMED_OUT -> timedOut
            FAILED -> throw core.failure(this)
            else -> throw whyLate()
        }

    private fun resultAfterWait(state: Int): Any? =
        if (state == FAILED && !core.sharesFailures) throw core.failure(this).withFramesOf(this) else result(state)

    final override fun whyWithdrawn(): Throwable? = if (currentState == TIMED_OUT) null else whyLate()

    public final override fun leave() {
        super.leave()
        stopTimer()
    }

    protected open fun stopTimer() {}

    final override val invitable: Boolean
        get() = true

    final override fun invite(from: WaitCore) {
        // A waiter that runs at once claims at once, and that sends the next invitation.
        Timeouts.offSharedTimer { Trampoline.run { sendInvitation(from) } }
    }

    private fun sendInvitation(from: WaitCore) {
        val invitation = Invitation(from)
        try {
            (interceptor?.interceptContinuation(invitation) ?: invitation).resumeWith(RESUMED)
        } catch (e: Throwable) {
            if (invitation.arrived) Trampoline.report(e) else if (from.claim(this)) arriveElsewhere(e)
        }
    }

    /** Runs on the waiter's dispatcher and takes what is free then. */
    private inner class Invitation(private val from: WaitCore) : Continuation<Unit> {
        override val context: CoroutineContext
            get() = this@CoroutineWaiter.context

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
    number: Int,
    request: Any?,
    caller: Continuation<*>,
    timedOut: Any? = false,
) : CoroutineWaiter(core, number, request, caller, true, timedOut), Runnable {
    private var timer: DisposableHandle? = null

    override val mayBeReused: Boolean
        get() = false

    /** The timer is set before the waiter is enqueued: the thread that resumes the waiter sees it, and can stop it. */
    fun await(timeout: Duration): Any? {
        timer = core.schedule(timeout, context, this)
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
