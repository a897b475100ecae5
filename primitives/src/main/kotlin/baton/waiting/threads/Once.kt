package baton.waiting.threads

import baton.InternalBatonApi
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.coroutines.Continuation
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext

/**
 * Lets the first of its callers through. A dispatcher or an executor of users may run a block twice, or throw after it
 * has queued the block, so that a substitute runs as well.
 */
@InternalBatonApi
public open class Once : AtomicBoolean() {
    /** True for the first caller. */
    public fun take(): Boolean = compareAndSet(false, true)

    /** Whether a caller was let through. */
    public val isTaken: Boolean
        get() = get()
}

/** Runs [action] once. */
@InternalBatonApi
public class RunOnce(private val action: Runnable) : Once(), Runnable {
    override fun run() {
        if (take()) action.run()
    }
}

/** Resumes [caller] once. */
internal class ResumeOnce<T>(private val caller: Continuation<T>) : Once(), Continuation<T> {
    override val context: CoroutineContext
        get() = caller.context

    override fun resumeWith(result: Result<T>) {
        if (take()) caller.resumeWith(result)
    }

    /**
     * Resumes [caller] on its dispatcher. If that throws, [refused] has to resume it elsewhere; but if it was resumed
     * all the same, the exception is reported.
     */
    inline fun dispatch(result: Result<T>, refused: (Throwable) -> Unit) {
        try {
            (context[ContinuationInterceptor]?.interceptContinuation(this) ?: this).resumeWith(result)
        } catch (e: Throwable) {
            if (isTaken) Trampoline.report(e) else refused(e)
        }
    }
}
