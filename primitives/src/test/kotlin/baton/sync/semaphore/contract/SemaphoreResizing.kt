package baton.sync.semaphore.contract

import baton.sync.SemaphoreClosedException
import baton.sync.assertContains
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.waiting.Callers
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** More permits, fewer permits, and debts. */
interface SemaphoreResizing : SemaphoreFixture {
    @Test
    fun resize_belowOne_isRefusedAndChangesNothing() {
        val semaphore = semaphore(3, acquired = 1)
        for (permits in listOf(Int.MIN_VALUE, -1, 0)) {
            val e = assertThrows<IllegalArgumentException> { semaphore.resize(permits) }
            assertContains(e.message, permits, "at least 1")
            assertEquals(3, semaphore.permits)
            assertState(semaphore, available = 2)
        }
    }

    @Test
    fun resize_toTheSame_changesNothing() {
        val semaphore = semaphore(3, acquired = 1)
        semaphore.resize(3)
        assertEquals(3, semaphore.permits)
        assertState(semaphore, available = 2)
    }

    @Test
    fun resize_up_addsPermits() {
        val semaphore = semaphore(3, acquired = 1)
        semaphore.resize(10)
        assertEquals(10, semaphore.permits)
        assertState(semaphore, available = 9)
        assertTrue(semaphore.tryAcquire(9))
        semaphore.release(10)
        assertThrows<IllegalStateException> { semaphore.release() }
        assertState(semaphore, available = 10)
    }

    @Test
    fun resize_toMaxAndBack_doesNotOverflow() {
        val semaphore = semaphore(1, acquired = 1)
        semaphore.resize(Int.MAX_VALUE)
        assertState(semaphore, available = Int.MAX_VALUE - 1)
        assertTrue(semaphore.tryAcquire(Int.MAX_VALUE - 1))
        semaphore.resize(1)
        assertState(semaphore, available = 0)
        semaphore.release(Int.MAX_VALUE - 1)
        assertState(semaphore, available = 0)
        semaphore.release()
        assertState(semaphore, available = 1)
        assertThrows<IllegalStateException> { semaphore.release() }
    }

    @Test
    fun resize_up_admitsExactlyThePrefixThatFits() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(3, acquired = 3)
            for ((name, n) in listOf("a" to 1, "b" to 2, "c" to 2, "d" to 1)) {
                callers.call(name) { semaphore.acquire(n) }
            }
            semaphore.resize(7)
            assertState(semaphore, available = 1, waiting = 2)
            runCurrent()
            assertEquals(listOf("a", "b"), callers.served)
            semaphore.resize(9)
            runCurrent()
            assertEquals(listOf("a", "b", "c", "d"), callers.served)
            assertState(semaphore, available = 0)
        }

    @Test
    fun resize_up_newBoundHoldsForNewcomers() =
        runTest {
            val semaphore = semaphore(2)
            assertThrows<IllegalArgumentException> { semaphore.acquire(3) }
            semaphore.resize(3)
            semaphore.acquire(3)
            assertState(semaphore, available = 0)
        }

    @Test
    fun resize_down_takesFreePermits() {
        val semaphore = semaphore(5, acquired = 1)
        semaphore.resize(3)
        assertState(semaphore, available = 2)
        assertFalse(semaphore.tryAcquire(3))
        assertThrows<IllegalArgumentException> { semaphore.tryAcquire(4) }
        semaphore.release()
        assertState(semaphore, available = 3)
        assertThrows<IllegalStateException> { semaphore.release() }
    }

    @Test
    fun resize_belowWhatIsHeld_isADebtThatReleasesPayOff() {
        val semaphore = semaphore(5, acquired = 5)
        semaphore.resize(2)
        assertEquals(2, semaphore.permits)
        for (available in listOf(0, 0, 0, 1, 2)) {
            assertFalse(semaphore.available == 0 && semaphore.tryAcquire())
            semaphore.release()
            assertState(semaphore, available)
        }
        assertThrows<IllegalStateException> { semaphore.release() }
        assertState(semaphore, available = 2)
    }

    @Test
    fun resize_intoDebt_releaseOfMoreThanTheDebtFreesTheRest() {
        val semaphore = semaphore(5, acquired = 5)
        semaphore.resize(2)
        semaphore.release(4)
        assertState(semaphore, available = 1)
        assertThrows<IllegalStateException> { semaphore.release(2) }
        assertState(semaphore, available = 1)
    }

    @Test
    fun release_moreThanHeldInDebt_throwsAndChangesNothing() {
        val semaphore = semaphore(5, acquired = 4)
        semaphore.resize(2)
        for (n in listOf(5, 6, Int.MAX_VALUE)) {
            assertThrows<IllegalStateException> { semaphore.release(n) }
            assertState(semaphore, available = 0)
        }
        semaphore.release(4)
        assertState(semaphore, available = 2)
    }

    @Test
    fun resize_intoDebt_waitersComeInOnlyWhenItIsPaid() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(4, acquired = 4)
            callers.call("a") { semaphore.acquire() }
            callers.call("b") { semaphore.acquire() }
            semaphore.resize(2)
            repeat(2) {
                semaphore.release()
                runCurrent()
                assertEquals(emptyList<String>(), callers.served)
                assertState(semaphore, available = 0, waiting = 2)
            }
            semaphore.release(2)
            runCurrent()
            assertEquals(listOf("a", "b"), callers.served)
            assertState(semaphore, available = 0)
        }

    @Test
    fun resize_backUpOutOfDebt_debtIsForgiven() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(4, acquired = 4)
            semaphore.resize(1)
            callers.call("a") { semaphore.acquire() }
            semaphore.resize(4)
            assertState(semaphore, available = 0, waiting = 1)
            semaphore.resize(6)
            runCurrent()
            assertEquals(listOf("a"), callers.served)
            assertState(semaphore, available = 1)
        }

    @Test
    fun resize_belowAWaitersWeight_failsItAsANewcomer() =
        runTest {
            val semaphore = semaphore(5, acquired = 5, name = "uplink")
            val heavy = Callers(this).call { semaphore.acquire(4) }
            semaphore.resize(3)
            assertState(semaphore, available = 0, waiting = 0)
            runCurrent()
            assertInstanceOf(IllegalArgumentException::class.java, heavy.failure)
            assertContains(heavy.failure?.message, 4, 3, "uplink")
            semaphore.release(5)
            assertState(semaphore, available = 3)
        }

    @Test
    fun resize_belowTheHeadsWeight_letsInThoseBehindIt() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(5, acquired = 2)
            val heavy = callers.call("heavy") { semaphore.acquire(5) }
            callers.call("two") { semaphore.acquire(2) }
            callers.call("small") { semaphore.acquire() }
            semaphore.resize(4)
            runCurrent()
            assertInstanceOf(IllegalArgumentException::class.java, heavy.failure)
            assertEquals(listOf("two"), callers.served)
            assertState(semaphore, available = 0, waiting = 1)
        }

    @Test
    fun resize_belowSomeWeightsInTheMiddle_keepsTheOrderOfTheOthers() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(5, acquired = 5)
            val all =
                listOf("a" to 2, "b" to 5, "c" to 1, "d" to 4, "e" to 3).map { (name, n) ->
                    callers.call(name) { semaphore.acquire(n) }
                }
            semaphore.resize(3)
            runCurrent()
            assertEquals(listOf("b", "d"), all.filter { it.failure is IllegalArgumentException }.map { it.name })
            assertState(semaphore, available = 0, waiting = 3)
            semaphore.release(5)
            runCurrent()
            assertEquals(listOf("a", "c"), callers.served)
            semaphore.release(3)
            runCurrent()
            assertEquals(listOf("a", "c", "e"), callers.served)
            assertState(semaphore, available = 0)
        }

    @Test
    fun resize_downWhileHeavyHeadHasSomeInReserve_reserveShrinks() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(6, acquired = 3)
            val heavy = callers.call { semaphore.acquire(4) }
            assertState(semaphore, available = 3, waiting = 1)
            semaphore.resize(4)
            assertState(semaphore, available = 1, waiting = 1)
            semaphore.release(2)
            runCurrent()
            assertTrue(heavy.isWaiting)
            semaphore.release()
            runCurrent()
            assertTrue(heavy.isServed)
            assertState(semaphore, available = 0)
        }

    @Test
    fun resize_downWhileGrantedWaiterHasNotRun_itKeepsWhatItHas() =
        runTest {
            val semaphore = semaphore(4, acquired = 4)
            val granted = Callers(this).call { semaphore.acquire(3) }
            semaphore.release(3)
            semaphore.resize(2)
            runCurrent()
            assertTrue(granted.isServed)
            assertState(semaphore, available = 0)
            semaphore.release(4)
            assertState(semaphore, available = 2)
        }

    @Test
    fun cancel_grantedInDebtBeforeItRan_paysOffTheDebt() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(4, acquired = 4)
            val granted = callers.call("granted") { semaphore.acquire(3) }
            callers.call("next") { semaphore.acquire(2) }
            semaphore.release(3)
            semaphore.resize(3)
            granted.cancel()
            runCurrent()
            assertTrue(granted.isCancelled)
            assertEquals(listOf("next"), callers.served)
            assertState(semaphore, available = 0)
        }

    @Test
    fun resize_afterClose_throwsClosed() {
        val semaphore = semaphore(3)
        semaphore.close()
        assertThrows<SemaphoreClosedException> { semaphore.resize(4) }
        assertEquals(3, semaphore.permits)
    }
}
