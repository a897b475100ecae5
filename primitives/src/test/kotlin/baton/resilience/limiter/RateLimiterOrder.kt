package baton.resilience.limiter

import baton.resilience.RateLimitedException
import baton.resilience.RateLimiterClosedException
import baton.resilience.per
import baton.waiting.Callers
import kotlin.time.Duration.Companion.days
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Requests of several sizes in one queue, and its ends. */
interface RateLimiterOrder : RateLimiterFixture {
    private fun paced(burst: Int, maxWaiting: Int = Int.MAX_VALUE) =
        PacedLimiter(faceOf, burst, LONG_PERIOD, maxWaiting)

    @Test
    fun acquire_sizesInOneQueue_areServedInOrderAsTheirTokensCome() = runTest {
        val paced = paced(burst = 4)
        val callers = Callers(this)
        for (n in listOf(3, 1, 4, 2, 2)) callers.call("$n") { paced.face.acquire(n) }
        for (served in listOf("3 1", "3 1 4", "3 1 4 2 2")) {
            paced.refill()
            runCurrent()
            assertEquals(served, callers.served.joinToString(" "))
        }
        assertEquals(0, paced.face.waiting)
    }

    @Test
    fun tryAcquire_callersWait_doesNotOvertake() = runTest {
        val paced = paced(burst = 2)
        val callers = Callers(this)
        callers.call { paced.face.acquire(2) }
        callers.call { paced.face.acquire(2) }
        repeat(2) { assertFalse(paced.face.tryAcquire()) }
        paced.refill()
        repeat(2) { assertFalse(paced.face.tryAcquire()) }
        paced.refill()
        runCurrent()
        paced.refill()
        assertTrue(paced.face.tryAcquire(2))
    }

    @Test
    fun cancel_ofALargeHead_letsThoseBehindMoveUpAtOnce() = runTest {
        val paced = paced(burst = 3)
        paced.limiter.update(2 per LONG_PERIOD, burst = 3)
        val callers = Callers(this)
        val large = callers.call("large") { paced.face.acquire(3) }
        for (name in listOf("a", "b", "c")) callers.call(name) { paced.face.acquire() }
        paced.refill()
        runCurrent()
        assertEquals(4, paced.face.waiting)
        large.cancel()
        runCurrent()
        assertEquals(listOf("a", "b"), callers.served)
        assertEquals(1, paced.face.waiting)
    }

    @Test
    fun update_belowWhatCallersWaitFor_failsThemAndServesTheOthers() = runTest {
        val paced = paced(burst = 3)
        val callers = Callers(this)
        val large = callers.call("large") { paced.face.acquire(3) }
        callers.call("small") { paced.face.acquire(2) }
        paced.face.step { paced.limiter.update(2 per LONG_PERIOD, burst = 2) }
        runCurrent()
        assertInstanceOf(IllegalArgumentException::class.java, large.failure)
        assertEquals(
            "permits = 3, must be at most 2, the burst of RateLimiter 'api'",
            large.failure!!.message!!.lines().first(),
        )
        paced.refill()
        runCurrent()
        assertEquals(listOf("small"), callers.served)
    }

    @Test
    fun acquire_maxWaitingReached_isRefusedWithTheTimeOfItsTurn() = runTest {
        val paced = paced(burst = 1, maxWaiting = 2)
        val callers = Callers(this)
        val first = callers.call("first") { paced.face.acquire() }
        callers.call("second") { paced.face.acquire() }
        val refused = callers.call { paced.face.acquire() }
        assertEquals(300.days, assertInstanceOf(RateLimitedException::class.java, refused.failure).retryIn)
        first.cancel()
        runCurrent()
        callers.call("third") { paced.face.acquire() }
        repeat(2) {
            paced.refill()
            runCurrent()
        }
        assertEquals(listOf("second", "third"), callers.served)
    }

    @Test
    fun request_belowOneOrAboveTheBurst_isRefusedAtTheCall() = runTest {
        val paced = paced(burst = 2)
        for (permits in listOf(Int.MIN_VALUE, -1, 0, 3, Int.MAX_VALUE)) {
            val refused = Callers(this).callAtOnce { paced.face.acquire(permits) }
            val failures = listOf(refused.failure!!, assertThrows<Exception> { paced.face.tryAcquire(permits) })
            for (failure in failures) {
                assertInstanceOf(IllegalArgumentException::class.java, failure)
                assertTrue("permits = $permits, must be at" in failure.message!!, failure.message)
            }
        }
        assertEquals(0, paced.face.waiting)
    }

    @Test
    fun request_closed_isRefused() = runTest {
        val paced = paced(burst = 1)
        paced.face.close(null)
        val refused = Callers(this).call { paced.face.acquire() }
        assertInstanceOf(RateLimiterClosedException::class.java, refused.failure)
        assertThrows<RateLimiterClosedException> { paced.face.tryAcquire() }
    }
}
