package baton.sync.semaphore.contract

import baton.sync.Semaphore
import baton.sync.WaitOrder
import baton.sync.assertContains
import baton.sync.assertState
import baton.sync.countdown.assertState
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
    fun create_permitsBelowOne_isRefused() {
        for (permits in listOf(Int.MIN_VALUE, -1, 0)) {
            val e = assertThrows<IllegalArgumentException> { semaphore(permits) }
            assertContains(e.message, permits, "at least 1")
        }
    }

    @Test
    fun create_oneOrMaxPermits_hasThem() {
        for (permits in listOf(1, Int.MAX_VALUE - 1, Int.MAX_VALUE)) {
            assertEquals(permits, semaphore(permits).permits)
            assertState(semaphore(permits), available = permits)
            assertState(semaphore(permits, acquired = permits), available = 0)
        }
    }

    @Test
    fun create_acquiredOutsideOfPermits_isRefused() {
        for (permits in listOf(1, 3, Int.MAX_VALUE)) {
            val tooMany = if (permits == Int.MAX_VALUE) emptyList() else listOf(permits + 1, Int.MAX_VALUE)
            for (acquired in listOf(Int.MIN_VALUE, -1) + tooMany) {
                val e = assertThrows<IllegalArgumentException> { semaphore(permits, acquired) }
                assertContains(e.message, acquired, permits)
            }
        }
    }

    @Test
    fun create_everyNumberAcquired_isHonoured() =
        runTest {
            for (permits in 1..12) {
                for (acquired in 0..permits) {
                    for (order in WaitOrder.entries) {
                        val semaphore = semaphore(permits, acquired, order)
                        assertState(semaphore, available = permits - acquired)
                        repeat(acquired) { semaphore.release() }
                        assertThrows<IllegalStateException> { semaphore.release() }
                        assertState(semaphore, available = permits)
                        semaphore.acquire(permits)
                        assertState(semaphore, available = 0)
                    }
                }
            }
        }

    @Test
    fun acquire_fewerThanOne_isRefused() =
        runTest {
            val semaphore = semaphore(3, acquired = 1)
            for (n in listOf(Int.MIN_VALUE, -1, 0)) {
                assertContains(assertThrows<IllegalArgumentException> { semaphore.acquire(n) }.message, n, "at least 1")
                assertState(semaphore, available = 2)
            }
        }

    @Test
    fun acquire_moreThanPermits_isRefusedAtOnce() =
        runTest {
            val semaphore = semaphore(3, acquired = 1, name = "uplink")
            for (n in listOf(4, Int.MAX_VALUE - 1, Int.MAX_VALUE)) {
                assertContains(assertThrows<IllegalArgumentException> { semaphore.acquire(n) }.message, n, 3, "uplink")
                assertState(semaphore, available = 2)
            }
        }

    @Test
    fun tryAcquire_fewerThanOne_isRefused() {
        val semaphore = semaphore(3, acquired = 1)
        for (n in listOf(Int.MIN_VALUE, -1, 0)) {
            assertContains(assertThrows<IllegalArgumentException> { semaphore.tryAcquire(n) }.message, n, "at least 1")
            assertState(semaphore, available = 2)
        }
    }

    @Test
    fun tryAcquire_moreThanPermits_isRefused() {
        val semaphore = semaphore(3, acquired = 1)
        for (n in listOf(4, Int.MAX_VALUE - 1, Int.MAX_VALUE)) {
            assertContains(assertThrows<IllegalArgumentException> { semaphore.tryAcquire(n) }.message, n, 3)
            assertState(semaphore, available = 2)
        }
    }

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

    @Test
    fun release_fewerThanOne_isRefused() {
        val semaphore = semaphore(3, acquired = 2)
        for (n in listOf(Int.MIN_VALUE, -1, 0)) {
            assertContains(assertThrows<IllegalArgumentException> { semaphore.release(n) }.message, n, "at least 1")
            assertState(semaphore, available = 1)
        }
    }

    @Test
    fun release_nothingHeld_throwsAndChangesNothing() {
        val semaphore = semaphore(3, name = "uplink")
        for (n in listOf(1, 2, 3, 4, Int.MAX_VALUE)) {
            assertContains(assertThrows<IllegalStateException> { semaphore.release(n) }.message, n, 3, "uplink")
            assertState(semaphore, available = 3)
        }
        assertTrue(semaphore.tryAcquire(3))
        assertFalse(semaphore.tryAcquire())
    }

    @Test
    fun release_moreThanHeld_throwsAndChangesNothing() {
        val semaphore = semaphore(5, acquired = 2)
        for (n in listOf(3, 5, 6, Int.MAX_VALUE)) {
            assertThrows<IllegalStateException> { semaphore.release(n) }
            assertState(semaphore, available = 3)
        }
        semaphore.release(2)
        assertState(semaphore, available = 5)
    }

    @Test
    fun release_moreThanHeldWhileSomebodyWaits_throwsAndLetsNobodyIn() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(5, acquired = 3)
            val heavy = callers.call { semaphore.acquire(4) }
            for (n in listOf(4, 5, Int.MAX_VALUE)) {
                assertThrows<IllegalStateException> { semaphore.release(n) }
                assertState(semaphore, available = 2, waiting = 1)
            }
            assertTrue(heavy.isWaiting)
            semaphore.release(3)
            runCurrent()
            assertTrue(heavy.isServed)
            assertState(semaphore, available = 1)
        }

    @Test
    fun release_tooManyOfMaxPermits_doesNotOverflow() {
        val semaphore = semaphore(Int.MAX_VALUE)
        assertThrows<IllegalStateException> { semaphore.release() }
        assertThrows<IllegalStateException> { semaphore.release(Int.MAX_VALUE) }
        assertState(semaphore, available = Int.MAX_VALUE)
        assertTrue(semaphore.tryAcquire(2))
        assertThrows<IllegalStateException> { semaphore.release(Int.MAX_VALUE) }
        assertState(semaphore, available = Int.MAX_VALUE - 2)
    }

    @Test
    fun acquire_maxPermits_takesAndGivesBackAll() =
        runTest {
            val semaphore = semaphore(Int.MAX_VALUE)
            semaphore.acquire(Int.MAX_VALUE)
            assertState(semaphore, available = 0)
            assertFalse(semaphore.tryAcquire())
            semaphore.release(Int.MAX_VALUE)
            semaphore.acquire(Int.MAX_VALUE - 1)
            semaphore.acquire()
            assertState(semaphore, available = 0)
        }

    @Test
    fun acquire_manyOfMaxWait_demandDoesNotOverflow() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(Int.MAX_VALUE, acquired = Int.MAX_VALUE)
            repeat(5) { callers.call("$it") { semaphore.acquire(Int.MAX_VALUE) } }
            assertState(semaphore, available = 0, waiting = 5)
            repeat(5) {
                semaphore.release(Int.MAX_VALUE)
                runCurrent()
            }
            assertEquals(listOf("0", "1", "2", "3", "4"), callers.served)
            semaphore.release(Int.MAX_VALUE)
            assertState(semaphore, available = Int.MAX_VALUE)
        }

    @Test
    fun acquire_enoughAvailable_doesNotSuspend() =
        runTest {
            val semaphore = semaphore(5)
            assertTrue(Callers(this).callAtOnce { semaphore.acquire() }.isServed)
            assertTrue(Callers(this).callAtOnce { semaphore.acquire(3) }.isServed)
            assertState(semaphore, available = 1)
        }

    @Test
    fun release_oneByOneOfSeveral_givesBackAll() =
        runTest {
            val semaphore = semaphore(3)
            semaphore.acquire(3)
            for (back in 1..3) {
                semaphore.release()
                assertState(semaphore, available = back)
            }
            repeat(3) { semaphore.acquire() }
            semaphore.release(3)
            assertState(semaphore, available = 3)
        }

    @Test
    fun toString_named_showsNameAndState() {
        assertContains(semaphore(10, acquired = 4, name = "uplink").toString(), "uplink", "10", "6", "waiting = 0")
        assertContains(semaphore(10, acquired = 3).toString(), "Semaphore", "10", "7")
    }

    @Test
    fun toString_somebodyWaits_showsHowMany() =
        runTest {
            val semaphore = semaphore(1, acquired = 1)
            repeat(2) { Callers(this).call { semaphore.acquire() } }
            assertContains(semaphore.toString(), "waiting = 2")
        }
}
