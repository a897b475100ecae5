package baton.sync.semaphore.contract

import baton.Priority
import baton.sync.WaitOrder
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
    fun priority_severalOfEachLevel_mostUrgentGoesFirstAndEqualsAsTheyCame() =
        scene(1, acquired = 1, WaitOrder.PRIORITY) {
            for (i in 1..2) for (level in Priority.entries.reversed()) acquire("$level$i", 1, level)
            acquire("none")
            releaseOneByOne(11)
            val expected = Priority.entries.joinToString(" ") { "${it}1 ${it}2" }
            assert(expected.replace("NORMAL2", "NORMAL2 none"), available = 0)
        }

    @Test
    fun priority_orderIsFifo_playsNoRole() =
        scene(1, acquired = 1) {
            for (level in Priority.entries.reversed()) acquire("$level", 1, level)
            releaseOneByOne(5)
            assert(Priority.entries.reversed().joinToString(" "), available = 0)
        }

    @Test
    fun priority_urgentAndHeavy_holdsBackTheOthers() =
        scene(3, acquired = 3, WaitOrder.PRIORITY) {
            acquire("small", 1, Priority.LOW)
            acquire("heavy", 3, Priority.CRITICAL)
            release(2)
            assert("", available = 2, waiting = 2)
            cancel("heavy")
            assert("small", available = 1)
        }

    @Test
    fun priority_urgentNewcomer_passesTheHeavyHeadButNoGrantedWaiterNorByTryAcquire() =
        scene(4, acquired = 2, WaitOrder.PRIORITY) {
            acquire("heavy", 3, Priority.LOW)
            assertFalse(semaphore.tryAcquire())
            acquire("urgent", 1, Priority.HIGH)
            assert("urgent", available = 1, waiting = 1)
            release(2)
            callers.callAtOnce("critical", Priority.CRITICAL) { semaphore.acquire() }
            assert("urgent heavy", available = 0, waiting = 1)
        }

    @Test
    fun priority_urgentIsCancelled_nextLevelIsServed() =
        scene(1, acquired = 1, WaitOrder.PRIORITY) {
            acquire("low", 1, Priority.LOW)
            acquire("waits", 1, Priority.CRITICAL)
            acquire("granted", 1, Priority.HIGH)
            cancel("waits")
            release()
            cancel("granted")
            assert("low", available = 0)
        }

    @Test
    fun priority_flood_passesALevelExactlyAsOftenAsPromised() = runTest {
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
        scene(1, acquired = 1, WaitOrder.PRIORITY) {
            repeat(4) { acquire("high", 1, Priority.HIGH) }
            repeat(400) { acquire("critical", 1, Priority.CRITICAL) }
            releaseOneByOne(65 * 4)
            assertEquals(listOf(64, 129, 194, 259), placesOf("high"))
        }

    @Test
    fun priority_everyLevelWaits_eachIsServedWithinItsBound() =
        scene(1, acquired = 1, WaitOrder.PRIORITY) {
            for ((level, _) in bypass) repeat(20) { acquire("$level", 1, level) }
            repeat(700) { acquire("${Priority.CRITICAL}", 1, Priority.CRITICAL) }
            releaseOneByOne(600)
            for ((level, bound) in bypass) {
                val gaps = (listOf(-1) + placesOf("$level")).zipWithNext { before, place -> place - before - 1 }
                assertTrue(gaps.isNotEmpty() && gaps.all { it in bound - 3..bound }) { "$level: $gaps" }
            }
        }

    private fun SemaphoreScene.placesOf(name: String) =
        callers.served.withIndex().filter { it.value == name }.map { it.index }

    private companion object {
        val bypass = listOf(Priority.HIGH to 64, Priority.NORMAL to 128, Priority.LOW to 256, Priority.IDLE to 512)
    }
}
