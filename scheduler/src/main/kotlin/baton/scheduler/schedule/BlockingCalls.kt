package baton.scheduler.schedule

import baton.waiting.threads.LoopKeeper
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.async
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.withContext

/**
 * The blocking operations of a store, on [dispatcher], which runs one at a time. A caller that is cancelled returns at
 * once: an operation that has not begun is left out, and one that has begun goes on in the background, to its end.
 */
internal class BlockingCalls(dispatcher: CoroutineDispatcher) {
    private val scope = CoroutineScope(SupervisorJob() + dispatcher)

    suspend fun <T> call(operation: () -> T): T {
        currentCoroutineContext().ensureActive()
        val result: Deferred<T> = scope.async { operation() }
        try {
            return result.await()
        } catch (e: CancellationException) {
            result.cancel(null)
            currentCoroutineContext().ensureActive()
            throw LoopKeeper.failureOf(e, "an operation of the store")
        }
    }

    /** As [call], also for a caller that is cancelled. */
    suspend fun callAnyhow(operation: () -> Unit) {
        val result = scope.async { operation() }
        withContext(NonCancellable) { result.await() }
    }
}
