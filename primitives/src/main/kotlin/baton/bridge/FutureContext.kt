package baton.bridge

import baton.InternalBatonApi
import baton.waiting.threads.KotlinxNeed
import baton.waiting.threads.Timeouts
import java.util.function.BiConsumer
import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.Continuation
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.intrinsics.startCoroutineUninterceptedOrReturn
import kotlin.coroutines.resume
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.Delay
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.Job
import kotlinx.coroutines.Runnable

/** Required before the first use of [FutureContext], which links to `Delay`. */
internal val FUTURE_CONTEXT_NEED =
    KotlinxNeed(
        "futures that wait for other processes and machines",
        { listOf(FutureContext::class.java) },
        "Delay.scheduleResumeAfterDelay(long, CancellableContinuation)",
    )

/**
 * Where the wait of a future for other processes or machines goes on. After a slice it resumes on a callback thread,
 * and not on that of a timer, because it may lead to user code. A wait that is cancelled while it sleeps resumes on the
 * canceller's thread, so that the caller has left the queue when the cancel returns; one that is running leaves at its
 * next pause.
 *
 * kotlinx.coroutines' [Delay] is internal. Tested against 1.8.1, 1.10.2 and 1.11.0.
 */
@OptIn(InternalCoroutinesApi::class)
internal object FutureContext :
    AbstractCoroutineContextElement(ContinuationInterceptor), ContinuationInterceptor, Delay {
    override fun <T> interceptContinuation(continuation: Continuation<T>): Continuation<T> = HandedOver(continuation)

    override fun scheduleResumeAfterDelay(timeMillis: Long, continuation: CancellableContinuation<Unit>) {
        val timer = Timeouts.onTimerThread(timeMillis) { continuation.resume(Unit) }
        continuation.invokeOnCancellation { timer.dispose() }
    }

    // The two that kotlinx.coroutines has bodies for, but not as default methods before 1.11.

    override fun invokeOnTimeout(timeMillis: Long, block: Runnable, context: CoroutineContext): DisposableHandle =
        Timeouts.schedule(timeMillis, block)

    @Deprecated("As in kotlinx.coroutines, which does not call it", level = DeprecationLevel.ERROR)
    override suspend fun delay(time: Long): Unit = throw UnsupportedOperationException()

    private class HandedOver<T>(private val continuation: Continuation<T>) : Continuation<T> {
        override val context: CoroutineContext
            get() = continuation.context

        override fun resumeWith(result: Result<T>) {
            if (result.isFailure) continuation.resumeWith(result)
            else Timeouts.handOver { continuation.resumeWith(result) }
        }
    }
}

/**
 * Starts [action], and calls [done] with its result or failure: on this thread if it need not wait. Cancelling the
 * returned job ends the wait; [done] may still get a result then.
 */
@InternalBatonApi
public fun <T> startFutureCall(done: BiConsumer<T?, Throwable?>, action: suspend () -> T): Job {
    FUTURE_CONTEXT_NEED.require()
    val job = Job()
    val completion =
        Continuation<T>(FutureContext + job) { result ->
            job.complete()
            done.accept(result.getOrNull(), result.exceptionOrNull())
        }
    val outcome = runCatching { action.startCoroutineUninterceptedOrReturn(completion) }
    if (outcome.getOrNull() === COROUTINE_SUSPENDED) return job
    job.complete()
    @Suppress("UNCHECKED_CAST") done.accept(outcome.getOrNull() as T?, outcome.exceptionOrNull())
    return job
}
