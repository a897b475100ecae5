package baton.scheduler

import baton.Priority
import kotlin.time.Duration

/**
 * What a [TaskScheduler] has done so far, and what it is doing: a snapshot, whose numbers are exact and fit together.
 * Of all levels taken together,
 *
 * - `scheduled = queued + waiting + started + withdrawn + rejected + shed + expired + closed`, and
 * - `started = running + done + failed + cancelled`.
 *
 * Each event counts for the level that the task has when it happens, so for one level alone this holds only if no task
 * changes its level.
 *
 * @property maxConcurrency how many tasks may run.
 * @property waiting how many callers of [TaskScheduler.submit] and [TaskScheduler.run] wait for room in the queue.
 */
public class TaskSchedulerMetrics internal constructor(
    public val maxConcurrency: Int,
    public val waiting: Int,
    private val levels: List<OfLevel>,
) {
    public operator fun get(priority: Priority): OfLevel = levels[priority.ordinal]

    /** How many tasks run, of all levels: at most [maxConcurrency], but for those that ran when it was lowered. */
    public val running: Int get() = levels.sumOf { it.running }

    /** How many tasks are queued, of all levels. */
    public val queued: Int get() = levels.sumOf { it.queued }

    /**
     * @property queued how many wait for their turn.
     * @property running how many were started and have not ended.
     * @property scheduled how many were scheduled, those included that were refused.
     * @property started how many got a place to run. One that was cancelled right after that may never have seen its
     *   block called.
     * @property done how many ended with a value.
     * @property failed how many were started and failed.
     * @property cancelled how many were started and then cancelled.
     * @property withdrawn how many were cancelled before they were started.
     * @property rejected how many found no room.
     * @property shed how many lost their place in the queue to a more urgent one.
     * @property expired how many were not started before their deadline.
     * @property closed how many came after the scheduler was closed or drained, or were queued or waited for room when
     *   it was closed.
     * @property overdue how many were started out of order because they had waited for longer than `maxWait`.
     * @property boosts how often somebody of this level lifted a task to it by awaiting it.
     * @property meanWait of those started, from being scheduled to the start, in the time source of the configuration.
     * @property longestWait of those started.
     * @property headWait how long the one has waited that is next in its level; zero if none is queued.
     * @property meanRun of those started that have ended, from the start to the end.
     * @property longestRun of those started that have ended.
     */
    public class OfLevel internal constructor(
        public val queued: Int,
        public val running: Int,
        public val scheduled: Long,
        public val started: Long,
        public val done: Long,
        public val failed: Long,
        public val cancelled: Long,
        public val withdrawn: Long,
        public val rejected: Long,
        public val shed: Long,
        public val expired: Long,
        public val closed: Long,
        public val overdue: Long,
        public val boosts: Long,
        public val meanWait: Duration,
        public val longestWait: Duration,
        public val headWait: Duration,
        public val meanRun: Duration,
        public val longestRun: Duration,
    ) {
        override fun toString(): String =
            "queued = $queued, running = $running, started = $started, done = $done, failed = $failed, " +
                "cancelled = ${cancelled + withdrawn}, refused = ${rejected + shed + expired + closed}, " +
                "mean wait = $meanWait, mean run = $meanRun"
    }

    override fun toString(): String =
        Priority.entries.joinToString("; ", "running = $running of $maxConcurrency, waiting = $waiting; ") {
            "$it: ${get(it)}"
        }
}
