package baton.scheduler.tasks

import baton.Priority
import baton.asClock
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

/**
 * Schedulers over faulty dispatchers, of which only dropped work is lost and no block runs twice, and faulty clocks.
 */
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

    /** Throws at the reading of this number after that of the scheduler that is made. */
    private class BreakingClock(private val reading: Int) : TimeSource {
        private var readings = -1

        val hasThrown
            get() = readings >= reading

        override fun markNow(): TimeMark =
            object : TimeMark {
                override fun elapsedNow(): Duration =
                    if (++readings == reading) throw ArithmeticException("battery") else readings.seconds
            }
    }

    private fun scheduler(job: Job, clock: TimeSource) =
        TaskScheduler(
            CoroutineScope(Dispatchers.Unconfined + job),
            1,
            config = TaskSchedulerConfig(clock = clock.asClock()),
        )

    private fun assertAtRest(scheduler: TaskScheduler, job: Job) {
        assertTrue(job.children.none())
        assertEquals(emptyList<ScheduledTask<*>>(), scheduler.tasks("key"))
        assertEquals(0, scheduler.metrics.queued + scheduler.metrics.running)
    }

    @Test
    fun schedule_clockThrows_throwsAndAddsNoTask() {
        val job = Job()
        val scheduler = scheduler(job, BreakingClock(1))
        assertThrows<ArithmeticException> { scheduler.schedule(key = "key") {} }
        assertAtRest(scheduler, job)
    }

    /** Returns whether the clock was read so often. */
    private fun clockThrowsAt(reading: Int): Boolean {
        val job = Job()
        val clock = BreakingClock(reading)
        val scheduler = scheduler(job, clock)
        val seen = ArrayList<Throwable>()
        fun seeing(action: () -> Unit) {
            try {
                action()
            } catch (e: ArithmeticException) {
                seen += e
            }
        }
        fun schedule(deadline: Duration? = null) = seeing { scheduler.schedule(key = "key", deadline = deadline) {} }
        reportingTo(seen) {
            schedule()
            scheduler.pause()
            repeat(2) { schedule() }
            schedule(deadline = Duration.ZERO)
            scheduler.resume()
            scheduler.pause()
            schedule()
            seeing { scheduler.addStage(ArrayList(), "key") { it.withdraw() } }
            job.cancelChildren()
            scheduler.resume()
        }
        val hasThrown = clock.hasThrown
        assertEquals(if (hasThrown) 1 else 0, seen.size)
        assertAtRest(scheduler, job)
        return hasThrown
    }

    @Test
    fun tasks_clockThrowsAtAnyReading_endAndLeaveTheScope() {
        val readings = generateSequence(1) { it + 1 }.takeWhile(::clockThrowsAt).count()
        assertTrue(readings > 12) { "$readings" }
    }

    private companion object {
        const val MANY = 300
    }
}
