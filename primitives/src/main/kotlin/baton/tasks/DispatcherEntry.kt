package baton.tasks

import baton.waiting.coroutine.Trampoline
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.coroutines.Continuation
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.intrinsics.suspendCoroutineUninterceptedOrReturn
import kotlin.coroutines.resume
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.job

/**
 * Goes on in the coroutine's dispatcher, cancelled or not. With `UNDISPATCHED` before it, that is how `ATOMIC` starts,
 * but for a dispatcher that throws: `ATOMIC` would leave a child behind that never ends. Here the coroutine is cancelled
 * and goes on elsewhere, as it does when kotlinx's own dispatchers are refused by their executor.
 */
internal suspend fun enterDispatcher(): Unit =
    suspendCoroutineUninterceptedOrReturn { caller ->
        DispatcherEntry(caller).begin()
        COROUTINE_SUSPENDED
    }

/** Is resumed once, though the dispatcher may have queued what it refused, or may run it again. */
private class DispatcherEntry(private val caller: Continuation<Unit>) :
    AtomicBoolean(),
    Continuation<Unit> {
    override val context: CoroutineContext get() = caller.context

    fun begin() {
        val interceptor = context[ContinuationInterceptor]
        try {
            (interceptor?.interceptContinuation(this) ?: this).resume(Unit)
        } catch (e: Throwable) {
            if (get()) return Trampoline.report(e)
            context.job.cancel(CancellationException("The task's dispatcher refused to start it", e))
            Dispatchers.Default.dispatch(context) { resume(Unit) }
        }
    }

    override fun resumeWith(result: Result<Unit>) {
        if (compareAndSet(false, true)) caller.resumeWith(result)
    }
}
