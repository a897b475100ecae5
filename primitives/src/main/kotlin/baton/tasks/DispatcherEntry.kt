@file:JvmSynthetic

package baton.tasks

import baton.waiting.threads.ResumeOnce
import baton.waiting.threads.runOnDefault
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
    val entry = ResumeOnce(caller)
    entry.dispatch(Result.success(Unit)) { refusal ->
        val reason = "start of $label was cancelled: its dispatcher refused it"
        caller.context.job.cancel(CancellationException(reason, refusal))
        runOnDefault(caller.context) { entry.resume(Unit) }
    }
    COROUTINE_SUSPENDED
}
