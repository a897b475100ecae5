package baton.waiting.coroutine

import baton.waiting.WaitCore
import baton.waiting.Waiter
import baton.waiting.threads.Trampoline
import baton.waiting.threads.runOnDefault
import kotlin.coroutines.Continuation
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.cancellation.CancellationException
import kotlin.coroutines.jvm.internal.CoroutineStackFrame
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.Job

/**
 * A waiter that resumes a coroutine on its dispatcher. It is itself the continuation that the dispatcher resumes,
 * wrapped once by `interceptContinuation`. The arrival ([arriveHere]) decides how the coroutine goes on, because it
 * knows whether the coroutine was cancelled meanwhile ([isLate]).
 *
 * A dispatcher that throws may have queued the coroutine before. So a substitute on Dispatchers.Default arrives too,
 * and the first of the two arrivals counts ([leaveForArrival]). If that is the substitute, the coroutine is cancelled
 * and unwinds there, as kotlinx's own dispatchers do when their executor rejects.
 */
internal abstract class DispatchedWaiter(
    core: WaitCore,
    number: Int,
    request: Any?,
    final override val context: CoroutineContext,
) : Waiter(core, number, request), Continuation<Unit>, CoroutineStackFrame, (Throwable?) -> Unit {
    protected val job: Job? = context[Job]
    protected val interceptor: ContinuationInterceptor? = context[ContinuationInterceptor]
    private val intercepted: Continuation<Unit> = interceptor?.interceptContinuation(this) ?: this

    /** The handler on the job. It calls [invoke] when the job begins to be cancelled. */
    protected var watch: DisposableHandle? = null

    /**
     * The thread that is inside [resume]. Other threads only compare it with themselves. The thread that resumed an
     * earlier wait may still clear it: then an arrival in place counts as one that was queued, which costs some stack.
     */
    private var resumer: Thread? = null

    /**
     * Counts the waits that the waiter served before. Its coroutine's thread changes it when a wait is over, before the
     * state shows that another may begin.
     */
    private var waitsBefore = 0

    /** Whether no later wait of its coroutine may use it, see [WaiterCache]. */
    @Volatile
    internal var servesOnce: Boolean = false
        private set

    final override fun serveOnce() {
        servesOnce = true
    }

    /** The exception of the dispatcher, once the substitute has arrived. */
    private var refusal: Throwable? = null

    final override val coroutine: CoroutineContext
        get() = context

    /** A dispatcher that runs its blocks in place is kept flat by [InPlace]; kotlinx's own are flat by themselves. */
    final override val resumesOnCallersStack: Boolean
        get() = interceptor !is CoroutineDispatcher

    protected val isLate: Boolean
        get() = refusal != null || job?.isActive == false

    final override fun getStackTraceElement(): StackTraceElement? = null

    final override fun resume(): Boolean {
        val isDeferred = InPlace.isInUse && interceptor is CoroutineDispatcher && InPlace.defer(interceptor, ::dispatch)
        if (!isDeferred) dispatch()
        return true
    }

    private fun dispatch() {
        resumer = Thread.currentThread()
        resumeIntercepted()
        resumer = null
    }

    private fun resumeIntercepted() {
        val waitsBefore = waitsBefore
        try {
            intercepted.resumeWith(RESUMED)
        } catch (e: Throwable) {
            // In this order: an arrival that is not seen yet finds servesOnce; one that led to a next wait has counted.
            serveOnce()
            if (hasArrived || waitsBefore != this.waitsBefore) Trampoline.report(e) else arriveElsewhere(e)
        }
    }

    final override fun arriveAtOnce(): Boolean {
        if (interceptor !== Dispatchers.Default) return false
        resumeIntercepted()
        return true
    }

    /** It has served a wait, and may serve another. */
    protected fun countWait() {
        waitsBefore++
    }

    final override fun resumeWith(result: Result<Unit>) {
        // The second run of a block that kotlinx has queued once brings another value.
        if (result.isSuccess && result != RESUMED) return
        val state = leaveForArrival()
        if (state == Waiter.ARRIVED) return
        if (resumer === Thread.currentThread() && interceptor is CoroutineDispatcher) {
            InPlace.run(interceptor, context) { arriveHere(state) }
        } else {
            arriveHere(state)
        }
    }

    private val hasArrived: Boolean
        get() = currentState >= Waiter.ARRIVED

    /** Called once, on the waiter's dispatcher; [state] is how the wait ended. */
    protected abstract fun arriveHere(state: Int)

    protected fun whyLate(): Throwable =
        if (job != null && !job.isActive) job.whyCancelled() else refused(refusal).withFramesOf(this)

    /** The call that waits, in messages. */
    protected open val call: String
        get() = core.callOf(this)

    private fun refused(why: Throwable?) = CancellationException("$call was cancelled: $REFUSED", why)

    protected fun unwatch() {
        watch?.dispose()
        watch = null
    }

    /** Called when it has served its last wait. */
    protected open fun leave() {
        unwatch()
        if (intercepted !== this) interceptor?.releaseInterceptedContinuation(intercepted)
    }

    /** Sends a substitute, because the dispatcher threw [e]. */
    protected fun arriveElsewhere(e: Throwable) {
        runOnDefault(context) { substitute(e) }
    }

    private fun substitute(e: Throwable) {
        val state = leaveForArrival()
        if (state == Waiter.ARRIVED) return
        refusal = e
        job?.cancel(refused(e))
        arriveHere(state)
    }
}

/** The value with which a waiter's continuation is resumed. */
internal val RESUMED: Result<Unit> = Result.success(Unit)

private const val REFUSED = "the dispatcher of its coroutine refused to resume it"
