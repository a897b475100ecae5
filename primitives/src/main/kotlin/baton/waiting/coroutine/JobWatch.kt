package baton.waiting.coroutine

import baton.waiting.threads.KotlinxNeed
import kotlin.coroutines.cancellation.CancellationException
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.Job

// Beyond the stable API of Job we need two things: a call when its cancellation begins, not when it has completed,
// and to know why. Tested against kotlinx-coroutines 1.8.1, 1.10.2 and 1.11.0.

private val NEED =
    KotlinxNeed(
        "waits of coroutines",
        "Job.invokeOnCompletion(boolean, boolean, Function1)",
        "Job.getCancellationException()",
    )

/**
 * Calls [onCancelling] when this job begins to be cancelled, on the canceller's thread. It is not called for a job that
 * is already being cancelled: look at [Job.isActive] after this.
 */
@OptIn(InternalCoroutinesApi::class)
internal fun Job.watchCancellation(onCancelling: (Throwable?) -> Unit): DisposableHandle {
    NEED.require()
    return invokeOnCompletion(onCancelling = true, invokeImmediately = false, handler = onCancelling)
}

/** Why this job, which is not active any more, was cancelled. */
@OptIn(InternalCoroutinesApi::class) internal fun Job.whyCancelled(): CancellationException = getCancellationException()
