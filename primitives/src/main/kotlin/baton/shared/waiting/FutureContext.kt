package baton.shared.waiting

import baton.waiting.threads.KotlinxNeed
import baton.waiting.threads.Timeouts
import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.Continuation
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.resume
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.Delay
import kotlinx.coroutines.InternalCoroutinesApi

/**
 * Where the wait of a future for other processes goes on. After a slice it resumes on a callback thread, and not on the
 * timer's or on one of the [SleeperPool], because it may lead to user code. A wait that is cancelled while it sleeps
 * resumes on the canceller's thread, so that the caller has left the queue when the cancel returns; one that is running
 * leaves at its next pause.
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

    /** To be called before the first use of this object, which links to `Delay`. */
    object Need {
        private val need =
            KotlinxNeed(
                "futures that wait for other processes",
                listOf("Delay.scheduleResumeAfterDelay(long, CancellableContinuation)"),
                { listOf(FutureContext::class.java) },
            )

        fun require() = need.require()
    }

    private class HandedOver<T>(private val continuation: Continuation<T>) : Continuation<T> {
        override val context: CoroutineContext
            get() = continuation.context

        override fun resumeWith(result: Result<T>) {
            if (result.isFailure) continuation.resumeWith(result)
            else Timeouts.handOver { continuation.resumeWith(result) }
        }
    }
}
