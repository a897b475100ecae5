package baton.memory

import baton.asClock
import baton.resilience.Rate
import baton.resilience.RateLimiter
import baton.resilience.per
import baton.waiting.Enough
import java.lang.ref.WeakReference
import java.util.concurrent.CountDownLatch
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.TestTimeSource
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class RateLimiterMemoryTest {
    private val clock = TestTimeSource()

    private fun empty(burst: Int) =
        RateLimiter.tokenBucket(1 per 1.days, burst.toLong(), clock = clock.asClock()).also {
            assertTrue(it.tryAcquire(burst))
        }

    @Test
    fun cancelledWaiters_leaveNothing() {
        val limiter = empty(1)
        val survivor = park { limiter.acquire() }
        assertLeavesNothing(200_000) { count ->
            val jobs = List(count) { park { limiter.acquire() } }
            jobs.forEach { it.cancel(Enough) }
        }
        assertEquals(1, limiter.waiting)
        survivor.cancel()
        // Each of these is a head, with a timer.
        assertLeavesNothing(20_000) { count -> repeat(count) { park { limiter.acquire() }.cancel(Enough) } }
        assertEquals(0, limiter.waiting)
    }

    @Test
    fun heads_servedOrCancelled_areNotKeptByTheTimer() {
        val limiter = empty(3)
        val jobs = mutableListOf<WeakReference<Job>>()
        // Default keeps a coroutine that it has not resumed yet.
        val ended = CountDownLatch(4)
        suspend fun acquire() {
            try {
                limiter.acquire()
            } finally {
                ended.countDown()
            }
        }
        for (context in listOf(Dispatchers.Unconfined, Dispatchers.Default)) {
            jobs += WeakReference(park(context) { acquire() })
            awaitWaiter(limiter)
            clock += 1.days
            assertEquals(0, limiter.availablePermits)
            jobs += WeakReference(park(context) { acquire() }.also { awaitWaiter(limiter) }.also(Job::cancel))
        }
        ended.await()
        assertEquals(0, limiter.waiting)
        assertCollected(jobs)
    }

    private fun awaitWaiter(limiter: RateLimiter) {
        while (limiter.waiting == 0) Thread.onSpinWait()
    }

    @Test
    fun reservations_cancelledOrUsed_leaveNothing() {
        val limiter = empty(1)
        assertLeavesNothing(200_000) { count ->
            val reservations = List(count) { limiter.reserve() }
            reservations.forEach { assertTrue(it.cancel()) }
        }
        val others = arrayOf(Rate(1, 2.nanoseconds), Rate(3, 3.nanoseconds))
        for (more in listOf(arrayOf(), others)) {
            val fast = RateLimiter.of(1 per 1.nanoseconds, *more, burst = 1, clock = clock.asClock())
            assertLeavesNothing(200_000) { count ->
                repeat(count) { fast.reserve() }
                clock += (2 * count).nanoseconds
                fast.tryAcquire()
            }
        }
    }
}
