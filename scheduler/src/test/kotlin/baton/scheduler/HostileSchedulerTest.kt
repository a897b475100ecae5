package baton.scheduler

import baton.Priority
import baton.hostile.HostileDispatcher
import baton.hostile.Hostility
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicIntegerArray
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TimeSource
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** Schedulers over dispatchers that have a fault: nothing is lost but what is dropped, and nothing runs twice. */
class HostileSchedulerTest {
    private val runs = AtomicIntegerArray(MANY)
    private val running = AtomicInteger()
    private val most = AtomicInteger()

    private fun run(number: Int) {
        most.accumulateAndGet(running.incrementAndGet(), Math::max)
        runs.incrementAndGet(number)
        running.decrementAndGet()
    }

    /** What is refused runs on another thread. */
    private fun HostileDispatcher.runUntil(isDone: () -> Boolean) {
        val start = TimeSource.Monotonic.markNow()
        while (!isDone()) {
            run()
            assertTrue(start.elapsedNow() < 30.seconds) { "not done: $runs" }
        }
        run()
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = ["DROPS"])
    fun `blocks of a dispatcher and of its views run once, and no more at a time than allowed`(hostility: Hostility) {
        val under = HostileDispatcher(hostility)
        val prioritized = under.prioritized(2, quantum = 3)
        val view = prioritized.limitedParallelism(1, "view")
        val inner = view.limitedParallelism(1, "inner")
        val lines = listOf(prioritized, view, inner)
        for (number in 0 until MANY) {
            val level = Priority.entries[number % 5]
            lines[number % 3].level(level).dispatch(EmptyCoroutineContext) { run(number) }
            if (number % 20 == 0) under.step()
        }
        under.runUntil { (0 until MANY).all { runs[it] > 0 } && lines.all { it.metrics.workers == 0 } }
        assertEquals(List(MANY) { 1 }, List(MANY) { runs[it] })
        assertTrue(most.get() <= 2) { "${most.get()} at a time" }
    }

    @ParameterizedTest
    @EnumSource
    fun `tasks end, their blocks run once at most, and every place is free`(hostility: Hostility) {
        val under = HostileDispatcher(hostility)
        val scheduler = TaskScheduler(CoroutineScope(under + Job()), 2)
        val tasks = List(MANY) { number -> scheduler.schedule(Priority.entries[number % 5]) { run(number) } }
        // A pool that drops tasks does not say so.
        if (hostility == Hostility.DROPS) tasks.forEach { it.cancel() }
        under.runUntil { tasks.all { it.isCompleted } && scheduler.metrics.running == 0 }
        assertTrue((0 until MANY).all { runs[it] <= 1 }) { "$runs" }
        assertEquals(tasks.count { !it.isCancelled }, (0 until MANY).sumOf { runs[it] })
        assertTrue(most.get() <= 2) { "${most.get()} at a time" }
        assertEquals(0, scheduler.metrics.queued)
    }

    private companion object {
        const val MANY = 300
    }
}
