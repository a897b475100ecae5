package baton.sync.semaphore.contract

import baton.sync.SemaphoreClosedException
import baton.sync.WaitOrder
import baton.sync.assertContains
import baton.sync.assertState
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** More permits, fewer permits, and debts. */
interface SemaphoreResizing : SemaphoreFixture {
    @Test
    fun resize_upDownAndToTheSame_movesTheFreePermits() {
        val semaphore = semaphore(5, acquired = 1)
        for (permits in listOf(5, 10, 3, 1, Int.MAX_VALUE, 3)) {
            semaphore.resize(permits)
            assertEquals(permits, semaphore.permits)
            assertState(semaphore, available = permits - 1)
        }
        assertFalse(semaphore.tryAcquire(3))
        assertThrows<IllegalArgumentException> { semaphore.tryAcquire(4) }
        assertTrue(semaphore.tryAcquire(2))
        semaphore.release(3)
        assertThrows<IllegalStateException> { semaphore.release() }
        assertState(semaphore, available = 3)
    }

    @Test
    fun resize_belowWhatIsHeld_isADebtThatReleasesPayOff() {
        for (isClosed in listOf(false, true)) {
            val semaphore = semaphore(5, acquired = 4)
            semaphore.resize(2)
            if (isClosed) semaphore.close()
            for (available in listOf(0, 0, 1, 2)) {
                assertFalse(!isClosed && semaphore.available == 0 && semaphore.tryAcquire())
                assertThrows<IllegalStateException> { semaphore.release(5) }
                semaphore.release()
                assertState(semaphore, available)
            }
            assertThrows<IllegalStateException> { semaphore.release() }
            assertState(semaphore, available = 2)
        }
    }

    @Test
    fun resize_fromMaxIntoDebt_doesNotOverflow() {
        val semaphore = semaphore(Int.MAX_VALUE, acquired = Int.MAX_VALUE)
        semaphore.resize(1)
        semaphore.release(Int.MAX_VALUE - 1)
        assertState(semaphore, available = 0)
        semaphore.release()
        assertState(semaphore, available = 1)
        assertThrows<IllegalStateException> { semaphore.release() }
    }

    @Test
    fun resize_intoDebtAndOut_waitersComeInOnlyWhenItIsPaidOrForgiven() =
        scene(4, acquired = 4) {
            acquire("a" to 1, "b" to 1, "c" to 1)
            semaphore.resize(2)
            release()
            assert("", available = 0, waiting = 3)
            release(2)
            assert("a", available = 0, waiting = 2)
            semaphore.resize(1)
            semaphore.resize(2)
            assert("a", available = 0, waiting = 2)
            semaphore.resize(5)
            assert("a b c", available = 1)
        }

    @Test
    fun resize_belowSomeWeights_failsThemAsNewcomersAndKeepsTheOrderOfTheOthers() =
        scene(5, acquired = 5, name = "uplink") {
            acquire("a" to 2, "b" to 5, "c" to 1, "d" to 4, "e" to 3)
            semaphore.resize(3)
            assertState(semaphore, available = 0, waiting = 3)
            assert("", available = 0, waiting = 3)
            for ((name, n) in listOf("b" to 5, "d" to 4)) {
                assertInstanceOf(IllegalArgumentException::class.java, get(name).failure)
                assertContains(get(name).failure?.message, n, 3, "uplink")
            }
            release(5)
            assert("a c", available = 0, waiting = 1)
            release(3)
            assert("a c e", available = 0)
        }

    /** resilience4j and java.util.concurrent close a gate so: 0 permits were refused here. */
    @Test
    fun noPermits_fromTheStartOrByAResize_areAGateThatAResizeOpens() {
        for (order in WaitOrder.entries) {
            for (held in listOf(0, 5)) {
                scene(held, acquired = held, order) {
                    acquire("before" to minOf(held + 1, 4))
                    semaphore.resize(0)
                    acquire("two" to 2, "too many" to 9, "one" to 1)
                    for (n in listOf(1, 9)) assertFalse(semaphore.tryAcquire(n))
                    if (held > 0) release(held)
                    for (n in 1..2) assertThrows<IllegalStateException> { release(n) }
                    assert("", available = 0, waiting = 4)
                    assertEquals(0, semaphore.permits)
                    semaphore.resize(7)
                    assert("before two one", available = if (held == 0) 3 else 0)
                    assertInstanceOf(IllegalArgumentException::class.java, get("too many").failure)
                }
            }
        }
    }

    @Test
    fun noPermits_debtIsPaidOff_beforeTheGateOpens() =
        scene(3, acquired = 3) {
            semaphore.resize(0)
            acquire("a" to 1, "b" to 1)
            release()
            semaphore.resize(3)
            assert("a", available = 0, waiting = 1)
            semaphore.resize(0)
            release(2)
            cancel("b")
            assert("a", available = 0)
            semaphore.resize(1)
            assert("a", available = 0)
            release()
            assert("a", available = 1)
            assertThrows<IllegalStateException> { release() }
        }

    @Test
    fun noPermits_closedMeanwhile_failsTheWaiters() =
        scene(0) {
            acquire("a" to 1, "b" to 2)
            semaphore.close()
            assert("", available = 0)
            for (name in listOf("a", "b")) assertInstanceOf(SemaphoreClosedException::class.java, get(name).failure)
            assertThrows<IllegalStateException> { release() }
        }

    @Test
    fun resize_downWhileAGrantedWaiterHasNotRun_itKeepsWhatItHasOrPaysOffTheDebt() {
        for (isCancelled in listOf(false, true)) {
            scene(4, acquired = 4) {
                acquire("granted" to 3, "next" to 2)
                release(3)
                semaphore.resize(3)
                if (isCancelled) cancel("granted")
                assert(if (isCancelled) "next" else "granted", available = 0, waiting = if (isCancelled) 0 else 1)
            }
        }
    }

    @Test
    fun resize_afterClose_throwsClosed() {
        val semaphore = semaphore(3)
        semaphore.close()
        assertThrows<SemaphoreClosedException> { semaphore.resize(4) }
        assertEquals(3, semaphore.permits)
    }
}
