package baton.scheduler.tasks

import baton.monitoring.Usage
import baton.monitoring.withTotals
import baton.waiting.LinkedEntries
import baton.waiting.WaitWatch
import kotlin.time.Duration.Companion.nanoseconds

/** The findings of a look at a [TaskCore], at the time [now]. */
internal class TaskWaits(private val now: Long) {
    private val first = ArrayList<TaskEntry>(NAMED)
    private var running = 0
    private var waiting = 0
    private var peak = 0
    private var watch: WaitWatch? = null
    private var longest = 0L
    private var longestRun = 0L
    private var started = 0L
    private var failed = 0L
    private var refused = 0L

    /** Under the lock of the core. */
    fun look(tasks: TaskTable) {
        val counts = tasks.counts
        running = tasks.running.size
        longestRun = tasks.running.first?.let { maxOf(0, now - it.since) } ?: 0
        waiting = tasks.queue.size + tasks.awaitingCapacity.size
        peak = counts.looked(waiting)
        watch = counts.watch
        started = counts.started
        failed = counts[TaskEnd.FAILED]
        refused = counts[TaskEnd.REJECTED] + counts[TaskEnd.SHED] + counts[TaskEnd.EXPIRED] + counts[TaskEnd.CLOSED]
        tasks.queue.forEachLevel(::add)
        add(tasks.awaitingCapacity)
    }

    /**
     * Inside a level, tasks are in the order of their arrival. One whose level was changed is at the end, where it may
     * be missed: the price of a look that is short however long the queue is.
     */
    private fun add(tasks: LinkedEntries<TaskEntry>) {
        var task = tasks.first
        var left = NAMED
        while (task != null && left-- > 0) {
            longest = maxOf(longest, now - task.since)
            if (first.size < NAMED) first += task
            task = task.next
        }
    }

    /** Without the lock: a key's `toString` is users' code. */
    fun toUsage(capacity: Int): Usage =
        Usage(
                running.toLong(),
                capacity.toLong(),
                waiting,
                longest.nanoseconds,
                peak,
                first.map { labelOf(it.shownKey) },
                longestRun = longestRun.nanoseconds,
            )
            .withTotals(mapOf("started" to started, "failed" to failed, "refused" to refused), watch)

    private companion object {
        const val NAMED = 10
    }
}
