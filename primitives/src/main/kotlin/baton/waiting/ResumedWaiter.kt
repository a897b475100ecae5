package baton.waiting

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
 * A waiter that brings a coroutine back into its own world. It is itself the continuation that the dispatcher resumes,
 * wrapped once by `interceptContinuation`; what becomes of the coroutine is decided on arrival ([arriveHere]), where it
 * can be seen whether it was cancelled meanwhile ([isLate]).
 */
internal abstract class ResumedWaiter(
    core: WaitCore,
    weight: Int,
    tag: Any?,
    final override val context: CoroutineContext,
) : Waiter(core, weight, tag),
    Continuation<Unit>,
    CoroutineStackFrame,
    (Throwable?) -> Unit {
    protected val job: Job? = context[Job]
    protected val interceptor: ContinuationInterceptor? = context[ContinuationInterceptor]
    private val intercepted: Continuation<Unit> = interceptor?.interceptContinuation(this) ?: this

    /** On the job; [invoke] hears of its cancellation. */
    protected var watch: DisposableHandle? = null
    private var arrivals = 0

    /** What a dispatcher threw that would not run the coroutine. */
    private var refusal: Throwable? = null

    final override val coroutine: CoroutineContext get() = context

    /** kotlinx's dispatchers keep the stack flat themselves, Unconfined and immediate ones included. */
    final override val resumesOnCallersStack: Boolean get() = interceptor !is CoroutineDispatcher

    protected val isLate: Boolean get() = refusal != null || job?.isActive == false

    final override fun getStackTraceElement(): StackTraceElement? = null

    final override fun resume(): Boolean {
        val before = arrivals
        try {
            intercepted.resumeWith(ARRIVED)
        } catch (e: Throwable) {
            if (arrivals != before) FlatStack.report(e) else arriveElsewhere(e)
        }
        return true
    }

    final override fun resumeWith(result: Result<Unit>) {
        arrivals++
        arriveHere()
    }

    /** In the waiter's own world. */
    protected abstract fun arriveHere()

    protected fun whyLate(): Throwable =
        if (job != null && !job.isActive) job.whyCancelled() else CancellationException(REFUSED, refusal)

    /** It has served for the last time. */
    protected open fun leave() {
        watch?.dispose()
        if (intercepted !== this) interceptor?.releaseInterceptedContinuation(intercepted)
    }

    /**
     * As kotlinx's own dispatchers do when their executor rejects: the coroutine is cancelled and unwinds elsewhere.
     */
    protected fun arriveElsewhere(e: Throwable) {
        refusal = e
        job?.cancel(CancellationException(REFUSED, e))
        Dispatchers.Default.dispatch(context) { resumeWith(ARRIVED) }
    }
}

/** What a waiter's continuation is resumed with; it knows the rest itself. */
internal val ARRIVED: Result<Unit> = Result.success(Unit)

private const val REFUSED = "The coroutine's dispatcher refused to resume it"
