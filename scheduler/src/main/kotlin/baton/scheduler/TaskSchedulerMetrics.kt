@file:Suppress("NEWER_VERSION_IN_SINCE_KOTLIN")

package baton.scheduler

import baton.Priority
import java.time.Duration as JavaDuration
import kotlin.time.Duration
import kotlin.time.toJavaDuration

/**
 * A snapshot of the counters of a [TaskScheduler]. Its numbers are exact and consistent. For all levels together,
 * - `scheduled = queued + waiting + started + withdrawn + rejected + shed + expired + closed`, and
 * - `started = running + done + failed + cancelled`.
 *
 * Each event counts for the level that the task has when it happens, so for one level alone this holds only if no task
 * changes its level.
 *
 * @property maxConcurrency the maximum number of running tasks.
 * @property waiting how many callers of [TaskScheduler.submit] and [TaskScheduler.run] wait for capacity.
 */
public class TaskSchedulerMetrics
internal constructor(public val maxConcurrency: Int, public val waiting: Int, private val levels: List<OfLevel>) {
    public operator fun get(priority: Priority): OfLevel = levels[priority.ordinal]

    /** How many tasks of all levels run: at most [maxConcurrency], or more if they ran when it was lowered. */
    public val running: Int
        get() = levels.sumOf { it.running }

    /** How many tasks of all levels are queued. */
    public val queued: Int
        get() = levels.sumOf { it.queued }

    /**
     * @property queued how many are queued.
     * @property running how many were started and have not ended.
     * @property scheduled how many were scheduled, including those that were refused.
     * @property started how many got a slot. The block of a task that was cancelled right after that may never have
     *   been called.
     * @property done how many ended with a value.
     * @property failed how many were started and failed, by their timeout too, whatever their block or stage ended
     *   with.
     * @property cancelled how many were started and then cancelled.
     * @property withdrawn how many were cancelled before they were started.
     * @property rejected how many were refused because the queue was full.
     * @property shed how many were displaced by a more urgent task.
     * @property expired how many were not started before their deadline or timeout.
     * @property closed how many were scheduled after the scheduler was closed or drained, or were queued or waited for
     *   capacity when it was closed.
     * @property overdue how many were started out of order because they had waited for longer than `maxWait`.
     * @property boosts how often a caller of this level boosted a task to it by awaiting it.
     * @property meanWait of the started tasks, from being scheduled to the start, in the time source of the
     *   configuration.
     * @property longestWait of the started tasks.
     * @property headWait how long the first task of the level has waited; zero if none is queued.
     * @property meanRun of the started tasks that have ended, from the start to the end.
     * @property longestRun of the started tasks that have ended.
     */
    public class OfLevel
    internal constructor(
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
        /** [meanWait] for Java. */
        @SinceKotlin(FOR_JAVA_ALONE) public fun meanWait(): JavaDuration = meanWait.toJavaDuration()

        /** [longestWait] for Java. */
        @SinceKotlin(FOR_JAVA_ALONE) public fun longestWait(): JavaDuration = longestWait.toJavaDuration()

        /** [headWait] for Java. */
        @SinceKotlin(FOR_JAVA_ALONE) public fun headWait(): JavaDuration = headWait.toJavaDuration()

        /** [meanRun] for Java. */
        @SinceKotlin(FOR_JAVA_ALONE) public fun meanRun(): JavaDuration = meanRun.toJavaDuration()

        /** [longestRun] for Java. */
        @SinceKotlin(FOR_JAVA_ALONE) public fun longestRun(): JavaDuration = longestRun.toJavaDuration()

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
