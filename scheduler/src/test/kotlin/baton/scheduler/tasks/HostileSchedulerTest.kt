package baton.scheduler.tasks

import baton.Priority
import baton.hostile.HostileDispatcher
import baton.hostile.Hostility
import baton.reportingTo
import baton.scheduler.ScheduledTask
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.prioritized
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicIntegerArray
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TimeMark
import kotlin.time.TimeSource
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.cancelChildren
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource
import org.junit.jupiter.params.provider.ValueSource

/** Schedulers over faulty dispatchers: only dropped work is lost, and no block runs twice. */
class HostileSchedulerTest {
    private val runs = AtomicIntegerArray(MANY)
    private val running = AtomicInteger()
    private val most = AtomicInteger()

    private fun run(number: Int) {
        most.accumulateAndGet(running.incrementAndGet(), Math::max)
        runs.incrementAndGet(number)
        running.decrementAndGet()
    }

    /** Refused work runs on another thread. */
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
    fun blocks_ofADispatcherAndItsViews_faultyDispatcher_runOnceWithinTheBound(hostility: Hostility) {
        val underlying = HostileDispatcher(hostility)
        val prioritized = underlying.prioritized(2, quantum = 3)
        val view = prioritized.limitedParallelism(1, "view")
        val inner = view.limitedParallelism(1, "inner")
        val dispatchers = listOf(prioritized, view, inner)
        for (number in 0 until MANY) {
            val level = Priority.entries[number % 5]
            dispatchers[number % 3].level(level).dispatch(EmptyCoroutineContext) { run(number) }
            if (number % 20 == 0) underlying.step()
        }
        underlying.runUntil { (0 until MANY).all { runs[it] > 0 } && dispatchers.all { it.metrics.workers == 0 } }
        assertEquals(List(MANY) { 1 }, List(MANY) { runs[it] })
        assertTrue(most.get() <= 2) { "${most.get()} at a time" }
    }

    @ParameterizedTest
    @EnumSource
    fun tasks_faultyDispatcher_end_runOnceAtMost_freeTheirSlots(hostility: Hostility) {
        val underlying = HostileDispatcher(hostility)
        val scheduler = TaskScheduler(CoroutineScope(underlying + Job()), 2)
        val tasks = List(MANY) { number -> scheduler.schedule(Priority.entries[number % 5]) { run(number) } }
        // A pool drops tasks silently.
        if (hostility == Hostility.DROPS) tasks.forEach { it.cancel() }
        underlying.runUntil { tasks.all { it.isCompleted } && scheduler.metrics.running == 0 }
        assertTrue((0 until MANY).all { runs[it] <= 1 }) { "$runs" }
        assertEquals(tasks.count { !it.isCancelled }, (0 until MANY).sumOf { runs[it] })
        assertTrue(most.get() <= 2) { "${most.get()} at a time" }
        assertEquals(0, scheduler.metrics.queued)
    }

    @Test
    fun schedule_clockThrows_addsNoTask_scopeDoesNotWait() {
        val job = Job()
        val broken =
            object : TimeSource {
                override fun markNow() =
                    object : TimeMark {
                        override fun elapsedNow(): Duration = throw ArithmeticException("battery")
                    }
            }
        val scheduler = TaskScheduler(CoroutineScope(job), 1, config = TaskSchedulerConfig(timeSource = broken))
        assertThrows<ArithmeticException> { scheduler.schedule(key = "key") {} }
        assertEquals(emptyList<ScheduledTask<*>>(), scheduler.tasks("key"))
        assertTrue(job.children.none())
    }

    @ParameterizedTest
    @ValueSource(ints = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    fun tasks_clockThrowsOnce_endAndLeaveTheScope(read: Int) {
        var reads = 0
        val job = Job()
        val breaking =
            object : TimeSource {
                override fun markNow() =
                    object : TimeMark {
                        override fun elapsedNow(): Duration =
                            if (++reads == read) throw ArithmeticException("battery") else reads.seconds
                    }
            }
        val config = TaskSchedulerConfig(timeSource = breaking)
        val scheduler = TaskScheduler(CoroutineScope(Dispatchers.Unconfined + job), 1, config = config)
        val seen = ArrayList<Throwable>()
        fun schedule(deadline: Duration? = null) {
            try {
                scheduler.schedule(key = "key", deadline = deadline) {}
            } catch (e: ArithmeticException) {
                seen += e
            }
        }
        reportingTo(seen) {
            schedule()
            scheduler.pause()
            repeat(2) { schedule() }
            schedule(deadline = Duration.ZERO)
            scheduler.resume()
            scheduler.pause()
            schedule()
            job.cancelChildren()
            scheduler.resume()
        }
        assertEquals(1, seen.size)
        assertTrue(job.children.none())
        assertEquals(emptyList<ScheduledTask<*>>(), scheduler.tasks("key"))
        assertEquals(0, scheduler.metrics.queued + scheduler.metrics.running)
    }

    private companion object {
        const val MANY = 300
    }
}
