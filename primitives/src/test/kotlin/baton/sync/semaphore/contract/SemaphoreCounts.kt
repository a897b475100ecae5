package baton.sync.semaphore.contract

import baton.sync.WaitOrder
import baton.sync.assertContains
import baton.sync.assertState
import baton.waiting.Callers
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The number of permits, and the numbers that may be requested and released. */
interface SemaphoreCounts : SemaphoreFixture {
    @Test
    fun create_numbersOutsideTheirBounds_areRefused() {
        for (permits in TOO_FEW - 0) {
            assertContains(assertThrows<IllegalArgumentException> { semaphore(permits) }.message, permits, "at least 0")
        }
        for (permits in listOf(0, 1, 3, Int.MAX_VALUE)) {
            for (acquired in listOf(Int.MIN_VALUE, -1, permits + 1, Int.MAX_VALUE)) {
                if (acquired in 0..permits) continue
                val e = assertThrows<IllegalArgumentException> { semaphore(permits, acquired) }
                assertContains(e.message, acquired, permits)
            }
        }
    }

    @Test
    fun create_everyNumberAcquired_isHonoured() = runTest {
        for (order in WaitOrder.entries) {
            for (permits in (1..12) + listOf(Int.MAX_VALUE - 1, Int.MAX_VALUE)) {
                for (acquired in (0..minOf(permits, 12)) + permits) {
                    val semaphore = semaphore(permits, acquired, order)
                    assertEquals(permits, semaphore.permits)
                    assertState(semaphore, available = permits - acquired)
                    if (acquired > 0) semaphore.release(acquired)
                    assertThrows<IllegalStateException> { semaphore.release() }
                    assertState(semaphore, available = permits)
                    semaphore.acquire(permits)
                    assertState(semaphore, available = 0)
                }
            }
        }
    }

    @Test
    fun calls_impossibleNumber_areRefusedAtOnceAndChangeNothing() = runTest {
        val semaphore = semaphore(3, acquired = 1, name = "uplink")
        val acquire: suspend (Int) -> Any? = { semaphore.acquire(it) }
        val tryAcquire: suspend (Int) -> Any? = { semaphore.tryAcquire(it) }
        val release: suspend (Int) -> Any? = { semaphore.release(it) }
        val resize: suspend (Int) -> Any? = { semaphore.resize(it) }
        for (call in listOf(acquire, tryAcquire, release)) {
            for (n in TOO_FEW) assertContains(refused(semaphore) { call(n) }.message, n, "at least 1")
        }
        for (n in TOO_FEW - 0) assertContains(refused(semaphore) { resize(n) }.message, n, "at least 0")
        for (n in listOf(4, Int.MAX_VALUE - 1, Int.MAX_VALUE)) {
            for (call in listOf(acquire, tryAcquire)) {
                assertContains(refused(semaphore) { call(n) }.message, n, 3, "uplink")
            }
        }
        assertEquals(3, semaphore.permits)
    }

    private suspend fun refused(semaphore: SemaphoreFace, call: suspend () -> Any?): Throwable =
        assertThrows<IllegalArgumentException> { call() }.also { assertState(semaphore, available = 2) }

    @Test
    fun tryAcquire_moreThanAvailable_takesNothing() {
        val semaphore = semaphore(5, acquired = 2)
        assertFalse(semaphore.tryAcquire(4))
        assertState(semaphore, available = 3)
        assertTrue(semaphore.tryAcquire(2))
        assertTrue(semaphore.tryAcquire())
        assertFalse(semaphore.tryAcquire())
        assertState(semaphore, available = 0)
    }

    /** tokio PR #3644: the check against the maximum looked at the added permits only, not at the sum. */
    @Test
    fun release_moreThanHeld_throwsAndChangesNothing() {
        for (permits in listOf(5, Int.MAX_VALUE)) {
            for (held in 0..2) {
                val semaphore = semaphore(permits, acquired = held, name = "uplink")
                for (n in listOf(held + 1, 4, 5, Int.MAX_VALUE)) {
                    assertContains(assertThrows<IllegalStateException> { semaphore.release(n) }.message, n, "uplink")
                    assertState(semaphore, available = permits - held)
                }
                if (held > 0) semaphore.release(held)
                assertState(semaphore, available = permits)
                assertTrue(semaphore.tryAcquire(permits))
            }
        }
    }

    @Test
    fun release_moreThanHeldWhileOthersWait_throwsAndGrantsNothing() =
        scene(5, acquired = 3) {
            awaitIdle()
            acquire("heavy" to 4)
            for (n in listOf(4, 5, Int.MAX_VALUE)) {
                assertThrows<IllegalStateException> { release(n) }
                assert("", available = 2, waiting = 1)
            }
            release(3)
            assert("heavy", available = 1)
        }

    @Test
    fun acquire_maxPermits_takesAndGivesBackAll() = runTest {
        val semaphore = semaphore(Int.MAX_VALUE)
        semaphore.acquire(Int.MAX_VALUE)
        assertFalse(semaphore.tryAcquire())
        semaphore.release(Int.MAX_VALUE)
        semaphore.acquire(Int.MAX_VALUE - 1)
        semaphore.acquire()
        assertState(semaphore, available = 0)
    }

    @Test
    fun acquire_manyOfMaxWait_demandDoesNotOverflow() =
        scene(Int.MAX_VALUE, acquired = Int.MAX_VALUE) {
            acquire(*Array(5) { "$it" to Int.MAX_VALUE })
            assert("", available = 0, waiting = 5)
            repeat(5) {
                release(Int.MAX_VALUE)
                scope.runCurrent()
            }
            release(Int.MAX_VALUE)
            assert("0 1 2 3 4", available = Int.MAX_VALUE)
        }

    @Test
    fun acquire_enoughAvailable_doesNotSuspend() =
        scene(5) {
            for (n in listOf(1, 3)) assertTrue(callers.callAtOnce("$n") { semaphore.acquire(n) }.isServed)
            assert("1 3", available = 1)
        }

    @Test
    fun toString_inEveryState_showsIt() = runTest {
        val semaphore = semaphore(10, acquired = 4, name = "uplink")
        assertContains(semaphore.toString(), "uplink", "10", "6", "waiting = 0")
        Callers(this).call { semaphore.acquire(10) }
        assertContains(semaphore.toString(), "waiting = 1")
        semaphore.close()
        assertContains(semaphore.toString(), "uplink", "closed")
        assertContains(semaphore(10, acquired = 3).toString(), "Semaphore", "10", "7")
    }

    private companion object {
        val TOO_FEW = listOf(Int.MIN_VALUE, -1, 0)
    }
}
