@file:JvmSynthetic

package baton.tasks

import baton.waiting.threads.Trampoline
import baton.waiting.threads.runOnDefault
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.coroutines.Continuation
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.intrinsics.suspendCoroutineUninterceptedOrReturn
import kotlin.coroutines.resume
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.job

/**
 * Continues in the coroutine's dispatcher, cancelled or not. After an `UNDISPATCHED` start this equals an `ATOMIC`
 * start, except if the dispatcher throws: `ATOMIC` would leave a child behind that never ends. Here the coroutine is
 * cancelled and continues on Dispatchers.Default, as with kotlinx's own dispatchers when their executor rejects.
 */
internal suspend fun enterDispatcher(label: String): Unit = suspendCoroutineUninterceptedOrReturn { caller ->
    DispatcherEntry(caller).begin(label)
    COROUTINE_SUSPENDED
}

/** Resumes [caller] once, even if a dispatcher that threw had queued the block, or runs the block twice. */
private class DispatcherEntry(private val caller: Continuation<Unit>) : AtomicBoolean(), Continuation<Unit> {
    override val context: CoroutineContext
        get() = caller.context

    fun begin(label: String) {
        val interceptor = context[ContinuationInterceptor]
        try {
            (interceptor?.interceptContinuation(this) ?: this).resume(Unit)
        } catch (e: Throwable) {
            if (get()) return Trampoline.report(e)
            val reason = "start of $label was cancelled: its dispatcher refused it"
            context.job.cancel(CancellationException(reason, e))
            runOnDefault(context) { resume(Unit) }
        }
    }

    override fun resumeWith(result: Result<Unit>) {
        if (compareAndSet(false, true)) caller.resumeWith(result)
    }
}
