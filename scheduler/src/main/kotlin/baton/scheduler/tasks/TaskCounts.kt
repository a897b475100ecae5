package baton.scheduler.tasks

import baton.scheduler.TaskSchedulerMetrics
import baton.scheduler.dispatch.RunQueue
import baton.waiting.WaitWatch
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds

/** The counters of a [TaskCore]. Guarded by its lock, so that the numbers of a snapshot are consistent. */
internal class TaskCounts {
    private class OfLevel {
        var scheduled = 0L
        var started = 0L
        var outOfOrder = 0L
        var boosts = 0L
        var running = 0
        /** The sums are in nanoseconds. A Long overflows when the waits of all tasks together exceed 292 years. */
        var waited = 0.0
        var longestWait = 0L
        var ran = 0.0
        var longestRun = 0L
        val ends = LongArray(TaskEnd.entries.size)

        operator fun get(end: TaskEnd) = ends[end.ordinal]
    }

    private var peakWaiting = 0

    /** The readers of the peak; null until the first look. */
    var watch: WaitWatch? = null
        private set

    /** Created for the first task of a level, by [prepare]; most schedulers use one or two. */
    private val levels = arrayOfNulls<OfLevel>(RunQueue.LEVELS.size)

    fun prepare(level: Int) {
        if (levels[level] == null) levels[level] = OfLevel()
    }

    private fun of(level: Int): OfLevel = checkNotNull(levels[level])

    /** So many tasks wait, and none of them can be started now. */
    fun countPeak(waiting: Int) {
        if (waiting > peakWaiting) peakWaiting = waiting
    }

    /** A look, at which [waiting] tasks wait. Returns the most that ever waited at a time. */
    fun looked(waiting: Int): Int {
        val watch = watch ?: WaitWatch().also { watch = it }
        return watch.looked(maxOf(peakWaiting, waiting)).also { peakWaiting = waiting }
    }

    fun scheduled(level: Int) {
        of(level).scheduled++
    }

    /** A task queued at [level] was started after [wait] nanoseconds, and runs at [runsAt]. */
    fun started(level: Int, runsAt: Int, wait: Long) {
        val counts = of(level)
        counts.started++
        counts.waited += wait
        counts.longestWait = maxOf(counts.longestWait, wait)
        of(runsAt).running++
    }

    /** A task of [level] has ended [time] nanoseconds after its start. */
    fun ran(level: Int, time: Long) {
        val counts = of(level)
        counts.ran += time
        counts.longestRun = maxOf(counts.longestRun, time)
    }

    fun moved(from: Int, to: Int) {
        of(from).running--
        of(to).running++
    }

    fun outOfOrder(level: Int) {
        of(level).outOfOrder++
    }

    fun boosted(level: Int) {
        of(level).boosts++
    }

    fun ended(level: Int, end: TaskEnd) {
        val counts = of(level)
        counts.ends[end.ordinal]++
        if (end <= TaskEnd.CANCELLED) counts.running--
    }

    /** How many tasks of all levels were started. */
    val started: Long
        get() = levels.sumOf { it?.started ?: 0 }

    /** How many tasks of all levels have ended in that way. */
    operator fun get(end: TaskEnd): Long = levels.sumOf { it?.get(end) ?: 0 }

    fun ofLevel(level: Int, queued: Int, headWait: Long): TaskSchedulerMetrics.OfLevel {
        val counts = levels[level] ?: NONE
        val ended = counts[TaskEnd.DONE] + counts[TaskEnd.FAILED] + counts[TaskEnd.CANCELLED]
        return TaskSchedulerMetrics.OfLevel(
            queued = queued,
            running = counts.running,
            scheduled = counts.scheduled,
            started = counts.started,
            done = counts[TaskEnd.DONE],
            failed = counts[TaskEnd.FAILED],
            cancelled = counts[TaskEnd.CANCELLED],
            withdrawn = counts[TaskEnd.WITHDRAWN],
            rejected = counts[TaskEnd.REJECTED],
            shed = counts[TaskEnd.SHED],
            expired = counts[TaskEnd.EXPIRED],
            closed = counts[TaskEnd.CLOSED],
            overdue = counts.outOfOrder,
            boosts = counts.boosts,
            meanWait = mean(counts.waited, counts.started),
            longestWait = counts.longestWait.nanoseconds,
            headWait = headWait.nanoseconds,
            meanRun = mean(counts.ran, ended),
            longestRun = counts.longestRun.nanoseconds,
        )
    }

    private fun mean(sum: Double, count: Long): Duration = (sum / maxOf(1, count)).toLong().nanoseconds

    private companion object {
        /** Of a level that has had no task. */
        val NONE = OfLevel()
    }
}
