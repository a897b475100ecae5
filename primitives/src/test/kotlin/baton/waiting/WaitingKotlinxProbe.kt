package baton.waiting

import baton.runBlockingOfAnyKotlinx
import baton.sync.Mutex
import baton.sync.Semaphore
import baton.waiting.coroutine.watchCancellation
import baton.waiting.coroutine.whyCancelled
import baton.waiting.threads.LimitedViews
import baton.waiting.threads.Timeouts
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executors
import java.util.concurrent.TimeUnit.SECONDS
import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Delay
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.Job
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Our use of kotlinx's Job and Delay. */
class WaitingKotlinxProbe {
    private val semaphore = Semaphore(1, acquired = 1)

    @Test
    fun cancellation_isHeardWhenItBegins() {
        val job = Job()
        var heard = 0
        val watch = job.watchCancellation { heard++ }
        val child = Job(job)
        job.cancel(null)
        assertEquals(1, heard)
        assertTrue(child.isCancelled)
        watch.dispose()
    }

    @Test
    fun cancellation_isNotHeardAfterDispose_norByALateHandler() {
        val job = Job()
        var heard = 0
        job.watchCancellation { heard++ }.dispose()
        job.cancel(null)
        job.watchCancellation { heard++ }
        assertEquals(0, heard)
        val cancelled = Job().apply { cancel(CancellationException("why")) }
        assertEquals("why", cancelled.whyCancelled().message)
    }

    @Test
    fun grantedAndThenCancelled_passesTheGrantOn() = runBlockingOfAnyKotlinx {
        val first = launch(start = CoroutineStart.UNDISPATCHED) { semaphore.acquire() }
        val second = launch(start = CoroutineStart.UNDISPATCHED) { semaphore.acquire() }
        semaphore.release()
        first.cancel(null)
        first.join()
        second.join()
        assertTrue(first.isCancelled)
        assertFalse(second.isCancelled)
        assertEquals(0, semaphore.availablePermits)
    }

    @Test
    fun timeout_inRunBlocking_onDefault_andOnUnconfined_ends() = runBlockingOfAnyKotlinx {
        assertFalse(semaphore.tryAcquire(1, 5.milliseconds))
        assertFalse(withContext(Dispatchers.Default) { semaphore.tryAcquire(1, 5.milliseconds) })
        assertFalse(withContext(Dispatchers.Unconfined) { semaphore.tryAcquire(1, 5.milliseconds) })
        assertFalse(withContext(LimitedViews.of(Dispatchers.IO, 1)) { Mutex(true).tryLock(5.milliseconds) })
        assertEquals(0, semaphore.waiting)
    }

    @Test
    fun timeout_withoutDispatcher_ends() {
        val ended = CountDownLatch(1)
        suspend { semaphore.tryAcquire(1, 5.milliseconds) }
            .startCoroutine(Continuation(EmptyCoroutineContext) { if (it.getOrNull() == false) ended.countDown() })
        assertTrue(ended.await(120, SECONDS))
    }

    @Test
    fun timer_ofADispatcherThatIsADelay_isUsedAndStopped() {
        val clock = Clock()
        var outcome: Boolean? = null
        val end = Continuation<Boolean>(clock) { outcome = it.getOrThrow() }
        suspend { semaphore.tryAcquire(1, 1.hours) }.startCoroutine(end)
        assertEquals(listOf(3_600_000L), clock.timers.map { it.first })
        clock.timers.single().second.run()
        assertEquals(false, outcome)
        clock.timers.clear()
        suspend { semaphore.tryAcquire(1, 1.hours) }.startCoroutine(end)
        semaphore.release()
        assertEquals(true, outcome)
        assertTrue(clock.timers.isEmpty())
    }

    @Test
    fun timeout_ofADispatcherWithoutAClock_cancelsOnTheSharedTimer() {
        val wasShared = CompletableFuture<Boolean>()
        Executors.newSingleThreadExecutor().asCoroutineDispatcher().use { executor ->
            CoroutineScope(executor).launch {
                // Again if it was cancelled before the watch.
                while (!wasShared.isDone) withTimeoutOrNull(5.milliseconds) { noteWhetherShared(wasShared) }
            }
            assertTrue(wasShared.get(120, SECONDS))
        }
    }

    private suspend fun noteWhetherShared(wasShared: CompletableFuture<Boolean>) {
        currentCoroutineContext().job.watchCancellation { wasShared.complete(Timeouts.isOnSharedTimer()) }
        awaitCancellation()
    }

    private class Clock : CoroutineDispatcher(), Delay {
        val timers = ArrayList<Pair<Long, Runnable>>()

        override fun dispatch(context: CoroutineContext, block: Runnable) = block.run()

        override fun invokeOnTimeout(timeMillis: Long, block: Runnable, context: CoroutineContext): DisposableHandle {
            val timer = timeMillis to block
            timers += timer
            return DisposableHandle { timers -= timer }
        }

        override fun scheduleResumeAfterDelay(timeMillis: Long, continuation: CancellableContinuation<Unit>): Unit =
            throw UnsupportedOperationException()
    }
}
