package baton.scheduler.dispatch

import baton.Priority
import baton.Priority.LOW
import baton.scheduler.PriorityPolicy
import baton.scheduler.prioritized
import baton.sync.assertContains
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.UnconfinedTestDispatcher
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/** Accepted and refused arguments, and the toString of a dispatcher. */
@Tag("jdk")
class PriorityParameterTest : PriorityFixture() {
    @Test
    fun toString_containsNameBoundAndUnderlyingDispatcher() {
        assertEquals(
            "PriorityDispatcher 'io' (parallelism = 3, over Dispatchers.IO)",
            Dispatchers.IO.prioritized(3, "io").toString(),
        )
        assertEquals(
            "PriorityDispatcher (level = LOW, parallelism = 1, over Dispatchers.Default)",
            Dispatchers.Default.prioritized(1).level(LOW).toString(),
        )
    }

    @Test
    fun prioritized_overADispatcherThatRunsInPlace_throws() {
        for (direct in listOf(Dispatchers.Unconfined, UnconfinedTestDispatcher())) {
            val e = assertThrows(IllegalArgumentException::class.java) { direct.prioritized(1) }
            assertContains(e.message, direct, "in place on the caller's thread")
        }
    }

    @ParameterizedTest
    @ValueSource(ints = [Int.MIN_VALUE, -1, 0])
    fun numbers_belowOne_areRefused(number: Int) {
        val calls =
            listOf(
                { Dispatchers.Default.prioritized(number) },
                { Dispatchers.Default.prioritized(1).limitedParallelism(number) },
                { Dispatchers.Default.prioritized(1, quantum = number) },
                { PriorityPolicy.Shares(critical = number) },
                { PriorityPolicy.Shares(idle = number) },
            )
        for (call in calls) {
            assertContains(assertThrows(IllegalArgumentException::class.java) { call() }.message, number, "1")
        }
    }

    @ParameterizedTest
    @ValueSource(ints = [1, 2, Int.MAX_VALUE])
    fun numbers_fromOne_areAccepted(number: Int) = runTest {
        val bound = maxOf(number, PriorityPolicy.Bounded.MIN_BOUND)
        val policy = PriorityPolicy.Bounded(bound, bound, bound, bound)
        val prioritized = StandardTestDispatcher(testScheduler).prioritized(number, policy = policy, quantum = number)
        for (dispatcher in listOf(prioritized, prioritized.limitedParallelism(number, "view"))) {
            assertEquals(number, dispatcher.parallelism)
            repeat(100) { launch(dispatcher + Priority.entries[it % 5]) { ran += "x" } }
        }
        testScheduler.runCurrent()
        assertEquals(200, ran.size)
    }

    @ParameterizedTest
    @ValueSource(ints = [Int.MIN_VALUE, -1, 0, 1, 2])
    fun bounds_belowTheLeast_areRefused(bound: Int) {
        val calls =
            listOf(
                "HIGH" to { PriorityPolicy.Bounded(high = bound) },
                "NORMAL" to { PriorityPolicy.Bounded(normal = bound) },
                "LOW" to { PriorityPolicy.Bounded(low = bound) },
                "IDLE" to { PriorityPolicy.Bounded(idle = bound) },
            )
        for ((level, call) in calls) {
            val e = assertThrows(IllegalArgumentException::class.java) { call() }
            assertContains(e.message, level, bound, PriorityPolicy.Bounded.MIN_BOUND)
        }
    }

    @Test
    fun weights_upToTheGreatest_areAccepted() = runTest {
        val most = PriorityPolicy.Shares.MAX_WEIGHT
        val policy = PriorityPolicy.Shares(most, most, most, most, idle = 1)
        val prioritized = prioritized(policy = policy)
        for (level in Priority.entries) repeat(100) { launch(prioritized + level) { ran += level.name } }
        testScheduler.runCurrent()
        assertEquals(500, ran.size)
        assertEquals(1, ran.take(401).count { it == "IDLE" })
    }

    @Test
    fun weights_aboveTheGreatest_areRefused() {
        for (weight in listOf(PriorityPolicy.Shares.MAX_WEIGHT + 1, Int.MAX_VALUE)) {
            val e = assertThrows(IllegalArgumentException::class.java) { PriorityPolicy.Shares(low = weight) }
            assertContains(e.message, "LOW", weight, PriorityPolicy.Shares.MAX_WEIGHT)
        }
    }
}
