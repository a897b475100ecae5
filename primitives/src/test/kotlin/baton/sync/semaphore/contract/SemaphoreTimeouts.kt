package baton.sync.semaphore.contract

import baton.sync.assertContains
import baton.sync.assertState
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.currentTime
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Waiting for a limited time, in virtual time: weights, and impossible numbers. */
interface SemaphoreTimeouts : SemaphoreFixture {
    @Test
    fun timed_heavyHead_isNotOvertakenAndLetsInTheSmallOnesAtItsEnd() =
        scene(4, acquired = 2) {
            val heavy = callers.call("heavy") { semaphore.tryAcquire(3, 50.milliseconds) }
            acquire("a" to 1, "b" to 1, "c" to 1)
            assertFalse(semaphore.tryAcquire(1, Duration.ZERO))
            assert("", available = 2, waiting = 4)
            scope.advanceTimeBy(51)
            assertTrue(heavy.gaveUp)
            assert("a b", available = 0, waiting = 1)
        }

    @Test
    fun timed_noPermits_waitsForAllOfItsTime() =
        scene(0) {
            val late = callers.call("late") { semaphore.tryAcquire(2, 50.milliseconds) }
            val inTime = callers.call("in time") { semaphore.tryAcquire(3, 90.milliseconds) }
            scope.advanceTimeBy(51)
            assertTrue(late.gaveUp && inTime.isWaiting)
            semaphore.resize(3)
            assert("in time", available = 0)
        }

    @Test
    fun timed_impossibleNumber_isRefusedAtOnce() =
        scene(3, acquired = 1) {
            for (n in listOf(Int.MIN_VALUE, -1, 0, 4, Int.MAX_VALUE)) {
                val e = assertThrows<IllegalArgumentException> { semaphore.tryAcquire(n, 50.milliseconds) }
                assertContains(e.message, n)
                assertState(semaphore, available = 2)
            }
            assertEquals(0, scope.currentTime)
        }
}
