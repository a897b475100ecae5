package baton.sync.semaphore.contract

import baton.Priority
import baton.sync.WaitOrder
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.waiting.Callers
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** [WaitOrder.PRIORITY]. */
interface SemaphorePriorities : SemaphoreFixture {
    @Test
    fun priority_allLevelsWait_mostUrgentGoesFirst() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(1, acquired = 1, order = WaitOrder.PRIORITY)
            for (level in Priority.entries.reversed()) callers.call("$level", level) { semaphore.acquire() }
            repeat(5) {
                semaphore.release()
                runCurrent()
            }
            assertEquals(Priority.entries.map { "$it" }, callers.served)
        }

    @Test
    fun priority_sameLevel_isFirstComeFirstServed() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(1, acquired = 1, order = WaitOrder.PRIORITY)
            for (i in 1..3) {
                callers.call("low $i", Priority.LOW) { semaphore.acquire() }
                callers.call("high $i", Priority.HIGH) { semaphore.acquire() }
            }
            repeat(6) {
                semaphore.release()
                runCurrent()
            }
            assertEquals(listOf("high 1", "high 2", "high 3", "low 1", "low 2", "low 3"), callers.served)
        }

    @Test
    fun priority_noneInTheContext_isNormal() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(1, acquired = 1, order = WaitOrder.PRIORITY)
            callers.call("low", Priority.LOW) { semaphore.acquire() }
            callers.call("none") { semaphore.acquire() }
            callers.call("normal", Priority.NORMAL) { semaphore.acquire() }
            callers.call("high", Priority.HIGH) { semaphore.acquire() }
            repeat(4) {
                semaphore.release()
                runCurrent()
            }
            assertEquals(listOf("high", "none", "normal", "low"), callers.served)
        }

    @Test
    fun priority_orderIsFifo_playsNoRole() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(1, acquired = 1)
            for (level in Priority.entries.reversed()) callers.call("$level", level) { semaphore.acquire() }
            repeat(5) {
                semaphore.release()
                runCurrent()
            }
            assertEquals(Priority.entries.reversed().map { "$it" }, callers.served)
        }

    @Test
    fun priority_urgentAndHeavy_barsTheOthers() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(3, acquired = 3, order = WaitOrder.PRIORITY)
            callers.call("small", Priority.LOW) { semaphore.acquire() }
            val heavy = callers.call("heavy", Priority.CRITICAL) { semaphore.acquire(3) }
            semaphore.release(2)
            runCurrent()
            assertEquals(emptyList<String>(), callers.served)
            assertState(semaphore, available = 2, waiting = 2)
            heavy.cancel()
            runCurrent()
            assertEquals(listOf("small"), callers.served)
            assertState(semaphore, available = 1)
        }

    @Test
    fun priority_urgentNewcomerFits_passesTheHeavyHead() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(3, acquired = 2, order = WaitOrder.PRIORITY)
            val heavy = callers.call("heavy", Priority.LOW) { semaphore.acquire(2) }
            callers.call("urgent", Priority.HIGH) { semaphore.acquire() }
            assertEquals(listOf("urgent"), callers.served)
            assertTrue(heavy.isWaiting)
            assertState(semaphore, available = 0, waiting = 1)
        }

    @Test
    fun priority_granted_isNotTakenBackForAnUrgentNewcomer() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(1, acquired = 1, order = WaitOrder.PRIORITY)
            val idle = callers.call("idle", Priority.IDLE) { semaphore.acquire() }
            semaphore.release()
            callers.callAtOnce("critical", Priority.CRITICAL) { semaphore.acquire() }
            runCurrent()
            assertTrue(idle.isServed)
            assertEquals(listOf("idle"), callers.served)
        }

    @Test
    fun priority_urgentIsCancelled_nextLevelIsServed() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(1, acquired = 1, order = WaitOrder.PRIORITY)
            callers.call("low", Priority.LOW) { semaphore.acquire() }
            val waits = callers.call("waits", Priority.CRITICAL) { semaphore.acquire() }
            val granted = callers.call("granted", Priority.HIGH) { semaphore.acquire() }
            waits.cancel()
            semaphore.release()
            granted.cancel()
            runCurrent()
            assertEquals(listOf("low"), callers.served)
        }

    @Test
    fun priority_flood_passesALevelExactlyAsOftenAsPromised() =
        runTest {
            for ((level, bound) in bypass) {
                for (flood in Priority.entries.filter { it < level }) {
                    assertEquals(bound, passesBeforeService(Callers(this), level, flood, ::runCurrent)) { "$flood" }
                }
            }
        }

    private fun passesBeforeService(callers: Callers, level: Priority, flood: Priority, run: () -> Unit): Int {
        val semaphore = semaphore(1, acquired = 1, order = WaitOrder.PRIORITY)
        callers.call("passed over", level) { semaphore.acquire() }
        // The flood never runs dry.
        repeat(2) { callers.call("flood", flood) { semaphore.acquire() } }
        while ("passed over" !in callers.served) {
            callers.call("flood", flood) { semaphore.acquire() }
            semaphore.release()
            run()
        }
        return callers.served.size - 1
    }

    @Test
    fun priority_floodGoesOn_countsFromZeroAfterEachService() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(1, acquired = 1, order = WaitOrder.PRIORITY)
            repeat(4) { callers.call("high", Priority.HIGH) { semaphore.acquire() } }
            repeat(400) { callers.call("critical", Priority.CRITICAL) { semaphore.acquire() } }
            repeat(65 * 4) {
                semaphore.release()
                runCurrent()
            }
            val places = callers.served.withIndex().filter { it.value == "high" }.map { it.index }
            assertEquals(listOf(64, 129, 194, 259), places)
        }

    @Test
    fun priority_everyLevelWaits_eachIsServedWithinItsBound() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(1, acquired = 1, order = WaitOrder.PRIORITY)
            for ((level, _) in bypass) repeat(20) { callers.call("$level", level) { semaphore.acquire() } }
            repeat(700) { callers.call("${Priority.CRITICAL}", Priority.CRITICAL) { semaphore.acquire() } }
            repeat(600) {
                semaphore.release()
                runCurrent()
            }
            for ((level, bound) in bypass) {
                val places = callers.served.withIndex().filter { it.value == "$level" }.map { it.index }
                val gaps = (listOf(-1) + places).zipWithNext { before, place -> place - before - 1 }
                assertTrue(gaps.isNotEmpty() && gaps.all { it in bound - 3..bound }) { "$level: $gaps" }
            }
        }

    @Test
    fun priority_tryAcquireUrgent_doesNotOvertakeWaiters() =
        runTest {
            val semaphore = semaphore(3, acquired = 2, order = WaitOrder.PRIORITY)
            Callers(this).call("idle", Priority.IDLE) { semaphore.acquire(2) }
            assertFalse(semaphore.tryAcquire())
            assertState(semaphore, available = 1, waiting = 1)
        }

    private companion object {
        val bypass = listOf(Priority.HIGH to 64, Priority.NORMAL to 128, Priority.LOW to 256, Priority.IDLE to 512)
    }
}
