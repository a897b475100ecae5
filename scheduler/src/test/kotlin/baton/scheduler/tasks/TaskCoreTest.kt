package baton.scheduler.tasks

import baton.Priority
import baton.asClock
import baton.scheduler.PriorityPolicy
import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.dispatch.mostUrgent
import kotlin.random.Random
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.TestTimeSource
import kotlinx.coroutines.CancellationException
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/**
 * The core without coroutines: order and bounds, checked at every start of random loads; the seed determines the load.
 */
class TaskCoreTest {
    private class Fake(priority: Priority) : TaskEntry(priority) {
        var begun: (() -> Unit)? = null
        var refusal: TaskEnd? = null

        override val hasEnded
            get() = phase == Phase.ENDED

        override fun cancelFromOutside(cause: CancellationException?) = error("has no group and no key")

        override fun begin() {
            begun?.invoke()
        }

        override fun admit() {}

        override fun refuse(end: TaskEnd) {
            refusal = end
        }
    }

    /** A naive model of the queue, and the conditions that must hold at each start. */
    private inner class World(val random: Random, policy: PriorityPolicy, val maxWait: LongArray, val share: Int) {
        private val clock = TestTimeSource()
        private var now = 0L
        private val config =
            TaskSchedulerConfig(
                policy,
                maxWait =
                    Priority.entries
                        .filter { maxWait[it.ordinal] < NEVER }
                        .associateWith { maxWait[it.ordinal].milliseconds },
                overdueShare = share,
                clock = clock.asClock(),
            )
        val core = TaskCore(1, config) { true }
        private val queues = Array(5) { ArrayList<Fake>() }
        private val enqueuedAt = HashMap<Fake, Long>()
        private val running = ArrayList<Fake>()
        private val passed = IntArray(5)
        val longest = IntArray(5)
        var starts = 0
        private var sinceOverdue = share.toLong()

        /** Out of order for a strict policy. */
        var overdueStarts = 0

        fun step(load: IntArray) {
            when (random.nextInt(12)) {
                in 0..4 -> add(levelOf(load))
                5 -> pass(random.nextLong(20))
                6 -> withQueued { cancel(it) }
                7 -> withQueued { prioritize(it, Priority.entries[random.nextInt(5)]) }
                else -> running.removeLastOrNull()?.let { core.recordEnd(it, null, isCancelled = false) }
            }
        }

        private fun levelOf(load: IntArray): Int {
            var at = random.nextInt(load.sum())
            return load.indices.first {
                at -= load[it]
                at < 0
            }
        }

        private fun pass(millis: Long) {
            now += millis
            clock += millis.milliseconds
        }

        private fun add(level: Int) {
            val task = Fake(Priority.entries[level])
            task.begun = { begun(task) }
            enqueuedAt[task] = now
            queues[level] += task
            core.enqueue(task, mayWait = false, isNowOrNever = false, core.clock.read())
        }

        private fun withQueued(act: (Fake) -> Unit) {
            queues.flatMap { it }.randomOrNull(random)?.let(act)
        }

        private fun cancel(task: Fake) {
            queues[task.level] -= task
            if (queues[task.level].isEmpty()) passed[task.level] = 0
            core.recordEnd(task, RuntimeException(), isCancelled = true)
        }

        private fun prioritize(task: Fake, priority: Priority) {
            if (priority != task.basePriority) {
                queues[task.level] -= task
                queues[priority.ordinal] += task
                if (queues[task.level].isEmpty()) passed[task.level] = 0
            }
            core.prioritize(task, priority)
        }

        private fun begun(task: Fake) {
            val level = queues.indexOfFirst { task in it }
            assertEquals(task, queues[level].first(), "first come, first served")
            check(level)
            queues[level].removeFirst()
            running += task
            starts++
            for (other in 0..4) {
                passed[other] = if (other == level || queues[other].isEmpty()) 0 else passed[other] + 1
                longest[other] = maxOf(longest[other], passed[other])
            }
        }

        private fun check(level: Int) {
            if (config.policy !is PriorityPolicy.Strict) return
            val mostUrgent = queues.indexOfFirst { it.isNotEmpty() }
            val overdue = (0..4).filter { queues[it].isNotEmpty() && over(it) > 0 }
            val pressing = overdue.maxOfOrNull(::over)
            if (pressing != null && sinceOverdue >= share - 1) {
                assertEquals(pressing, over(level), "the level that has been overdue for longest is next")
            } else {
                assertEquals(mostUrgent, level, "the most urgent level is next")
            }
            if (level == mostUrgent) {
                sinceOverdue++
            } else {
                overdueStarts++
                sinceOverdue = 0
            }
        }

        private fun over(level: Int) = now - enqueuedAt.getValue(queues[level].first()) - maxWait[level]

        fun finish() {
            while (true) core.recordEnd(running.removeLastOrNull() ?: break, null, isCancelled = false)
            val metrics = core.metrics()
            assertEquals(0, metrics.queued + metrics.running)
            assertSumsFit(metrics)
            assertEquals(starts.toLong(), Priority.entries.sumOf { metrics[it].started })
        }
    }

    @ParameterizedTest
    @ValueSource(ints = [2, 3, 4, 10, Int.MAX_VALUE])
    fun strict_overdueTasks_getOneStartOfAShare(share: Int) {
        var overdue = 0
        for (seed in 0 until SEEDS) {
            val random = Random(seed)
            val maxWait = LongArray(5) { if (random.nextInt(4) == 0) NEVER else random.nextLong(0, 200) }
            val world = World(random, PriorityPolicy.Strict, maxWait, share)
            val load = IntArray(5) { 1 + random.nextInt(4) }
            repeat(STEPS) { world.step(load) }
            world.finish()
            overdue += world.overdueStarts
            assertTrue(world.overdueStarts.toLong() * share <= world.starts + share.toLong()) { "seed $seed" }
        }
        assertTrue(overdue > SEEDS / 4)
    }

    @Test
    fun bounded_overdueTasks_boundsStayExact() {
        var overdue = 0L
        for (seed in 0 until SEEDS) {
            val random = Random(seed)
            val bounds = IntArray(5) { random.nextInt(3, 12) }
            val policy = PriorityPolicy.Bounded(bounds[1], bounds[2], bounds[3], bounds[4])
            val world = World(random, policy, LongArray(5) { random.nextLong(0, 50) }, random.nextInt(2, 6))
            val load = IntArray(5) { 1 + random.nextInt(4) }
            repeat(STEPS) { world.step(load) }
            world.finish()
            for (level in 1..4) {
                assertTrue(world.longest[level] <= bounds[level]) {
                    "seed $seed: a head of level $level was passed over ${world.longest[level]} times"
                }
            }
            val metrics = world.core.metrics()
            overdue += Priority.entries.sumOf { metrics[it].overdue }
        }
        assertTrue(overdue > SEEDS)
    }

    @ParameterizedTest
    @ValueSource(ints = [2, 4, 7])
    fun overdueBacklog_anyAge_urgentTasksGetAllStartsButOneOfAShare(share: Int) {
        val clock = TestTimeSource()
        val config =
            TaskSchedulerConfig(
                PriorityPolicy.Strict,
                mapOf(Priority.LOW to 1.milliseconds),
                share,
                clock = clock.asClock(),
            )
        val core = TaskCore(1, config) { true }
        val started = ArrayList<Fake>()
        fun add(priority: Priority) {
            val task = Fake(priority)
            task.begun = { started += task }
            core.enqueue(task, mayWait = false, isNowOrNever = false, core.clock.read())
        }
        repeat(1_000) { add(Priority.LOW) }
        clock += 500.milliseconds
        repeat(100 * share) {
            add(Priority.CRITICAL)
            core.recordEnd(started.last(), null, isCancelled = false)
        }
        val urgent = started.drop(1).map { it.basePriority == Priority.CRITICAL }
        for (window in urgent.windowed(share)) assertEquals(share - 1, window.count { it })
    }

    /** A caller may find a task by its key, and await it, before the thread that schedules it has queued it. */
    @Test
    fun boost_beforeTheTaskIsQueued_leavesItsOwnLevelUsable() {
        val core = TaskCore(1, TaskSchedulerConfig()) { true }
        core.pause()
        val task = Fake(Priority.LOW)
        core.boost(task, Priority.HIGH.ordinal)
        core.enqueue(task, mayWait = false, isNowOrNever = false, core.clock.read())
        core.unboost(task, Priority.HIGH.ordinal)
        core.resume()
        assertEquals(TaskEntry.Phase.RUNNING, task.phase)
        assertEquals(1, core.metrics()[Priority.LOW].running)
        core.recordEnd(task, null, isCancelled = false)
        assertSumsFit(core.metrics())
    }

    private companion object {
        const val SEEDS = 100
        const val STEPS = 500
        const val NEVER = Long.MAX_VALUE
    }
}
