package baton.sync.condition

import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.sync.readwrite.contract.cancelled
import baton.waiting.Callers
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A cancelled waiter leaves the queue as if it had never come; the signal it had got goes to the next. */
interface ConditionCancellation : ConditionFixture {
    @Test
    fun cancel_onlyWaiter_leavesNothing() =
        runTest {
            val condition = condition()
            val waiter = Callers(this).visitor(condition)
            waiter.cancel()
            runCurrent()
            assertTrue(waiter.isCancelled)
            assertState(condition, isLocked = false)
            condition.lockAndSignal()
            assertState(condition, isLocked = false)
        }

    @Test
    fun cancel_anyOneOfFive_keepsTheOrderOfTheOthers() =
        runTest {
            for (leaver in 0..4) {
                val callers = Callers(this)
                val condition = condition()
                val waiters = List(5) { callers.visitor(condition, "$it") }
                waiters[leaver].cancel()
                runCurrent()
                assertState(condition, isLocked = false, waiting = 4)
                repeat(4) {
                    condition.lockAndSignal()
                    runCurrent()
                }
                assertEquals((0..4).filter { it != leaver }.map { "$it" }, callers.served)
                assertState(condition, isLocked = false)
            }
        }

    @Test
    fun cancel_allWaiters_leavesNothing() =
        runTest {
            val condition = condition()
            val waiters = List(5) { Callers(this).visitor(condition) }
            waiters.forEach { it.cancel() }
            runCurrent()
            assertTrue(waiters.all { it.isCancelled })
            assertState(condition, isLocked = false)
        }

    @Test
    fun cancel_whileTheMutexIsHeld_isOutOfTheConditionAtOnce() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            val waiter = callers.visitor(condition, "cancelled")
            callers.visitor(condition, "next")
            condition.mutex.lock()
            waiter.cancel()
            assertEquals(1, condition.waiting)
            condition.signal()
            condition.mutex.unlock()
            runCurrent()
            assertTrue(waiter.isCancelled)
            assertEquals(listOf("next"), callers.served)
            assertState(condition, isLocked = false)
        }

    @Test
    fun cancel_signalledAndStillQueued_signalGoesToTheNext() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            val signalled = callers.visitor(condition, "signalled")
            callers.visitor(condition, "next")
            callers.visitor(condition, "last")
            condition.mutex.lock()
            condition.signal()
            signalled.cancel()
            condition.mutex.unlock()
            runCurrent()
            assertTrue(signalled.isCancelled)
            assertEquals(listOf("next"), callers.served)
            assertState(condition, isLocked = false, waiting = 1)
        }

    @Test
    fun cancel_severalSignalledInARow_signalsGoToThoseBehindThem() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            val waiters = List(6) { callers.visitor(condition, "$it") }
            condition.mutex.lock()
            repeat(2) { condition.signal() }
            for (i in listOf(0, 1, 2)) waiters[i].cancel()
            condition.mutex.unlock()
            runCurrent()
            assertEquals(listOf("3", "4"), callers.served)
            assertState(condition, isLocked = false, waiting = 1)
        }

    /** As if the cancelled waiter had never come: then the signal would have found no waiter. */
    @Test
    fun cancel_signalled_wakesNobodyWhoCameAfterTheSignal() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            val signalled = callers.visitor(condition, "signalled")
            val late =
                callers.call("late") {
                    condition.mutex.lock()
                    condition.signal()
                    signalled.cancel()
                    condition.await()
                }
            assertTrue(signalled.isCancelled)
            assertTrue(late.isWaiting)
            assertState(condition, isLocked = false, waiting = 1)
        }

    @Test
    fun cancel_oneOfAllThatWereSignalled_wakesNobodyElse() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            val signalled = List(3) { callers.visitor(condition, "$it") }
            val late =
                callers.call("late") {
                    condition.mutex.lock()
                    condition.signalAll()
                    signalled[1].cancel()
                    condition.await()
                }
            assertEquals(listOf("0", "2"), callers.served)
            assertTrue(late.isWaiting)
            assertState(condition, isLocked = false, waiting = 1)
        }

    @Test
    fun cancel_onceServed_changesNothing() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            val served = callers.call { condition.mutex.lock().also { condition.await() } }
            callers.visitor(condition, "next")
            condition.lockAndSignal()
            runCurrent()
            served.cancel()
            runCurrent()
            assertTrue(served.isServed)
            assertState(condition, isLocked = true, waiting = 1)
        }
}
