@file:Suppress("NEWER_VERSION_IN_SINCE_KOTLIN")

package baton.scheduler

import baton.Priority
import java.time.Duration as JavaDuration
import kotlin.time.Duration
import kotlin.time.toJavaDuration

/**
 * A snapshot of the counters of a [Schedule].
 *
 * @property fired how many actions have begun, each attempt of a run for itself.
 * @property succeeded how many actions have returned.
 * @property failed how many actions have thrown. A run that the executor rejects is offered again, and does not count
 *   here.
 * @property timedOut how many runs took longer than [ScheduleConfig.runTimeout]; they do not count as [failed].
 * @property retried how many attempts have failed, or timed out, on which another one follows; these count as nothing
 *   else.
 * @property cancelled how many runs [Schedule.cancelRun] has ended, those that had not begun included.
 * @property running how many have begun and have not ended.
 * @property skipped how many due times had no run because of [Misfire.Skip] or [Overlap].
 * @property lagTotal the sum of the lags of all actions that have begun: of [Due.lag], or, for a later attempt of a
 *   run, of the time from the end of the wait of its policy; in whole microseconds.
 * @property lagP50 the median of these lags; at most 7 % too high; 0 before the first action; in whole microseconds.
 * @property lagP99 the lag that 99 of 100 actions did not exceed; at most 7 % too high; 0 before the first action; in
 *   whole microseconds.
 * @property dirty how many entries have changes that are not in the store yet, without those that it refuses.
 * @property storeReads how often rows were loaded from the store.
 * @property storeWrites how often changes were applied to the store.
 * @property flushFailures how often such a write has failed.
 */
public class ScheduleMetrics
internal constructor(
    public val fired: Long,
    public val succeeded: Long,
    public val failed: Long,
    public val timedOut: Long,
    public val cancelled: Long,
    public val retried: Long,
    public val running: Int,
    public val skipped: Long,
    public val lagTotal: Duration,
    public val lagP50: Duration,
    public val lagP99: Duration,
    public val dirty: Int,
    public val storeReads: Long,
    public val storeWrites: Long,
    public val flushFailures: Long,
    private val tasks: TaskSchedulerMetrics?,
) {
    /**
     * How many runs, of all levels, are due and wait for a slot. A run that an edit has dropped counts until its turn
     * comes.
     */
    public val queued: Int
        get() = tasks?.queued ?: 0

    /** How long that one of them has waited which waits longest; zero if none waits. */
    public val headWait: Duration
        get() = if (tasks == null) Duration.ZERO else Priority.entries.maxOf { tasks[it].headWait }

    /** How many runs of [level] are due and wait for a slot. */
    public fun queued(level: Priority): Int = tasks?.get(level)?.queued ?: 0

    /** [lagTotal] for Java. */
    @SinceKotlin(FOR_JAVA_ALONE) public fun lagTotal(): JavaDuration = lagTotal.toJavaDuration()

    /** [lagP50] for Java. */
    @SinceKotlin(FOR_JAVA_ALONE) public fun lagP50(): JavaDuration = lagP50.toJavaDuration()

    /** [lagP99] for Java. */
    @SinceKotlin(FOR_JAVA_ALONE) public fun lagP99(): JavaDuration = lagP99.toJavaDuration()

    /** [headWait] for Java. */
    @SinceKotlin(FOR_JAVA_ALONE) public fun headWait(): JavaDuration = headWait.toJavaDuration()

    override fun toString(): String =
        "fired = $fired, succeeded = $succeeded, failed = $failed, timed out = $timedOut, cancelled = $cancelled, retried = $retried, " +
            "running = $running, queued = $queued, skipped = $skipped, lag p50 = $lagP50, lag p99 = $lagP99, dirty = $dirty, store reads = $storeReads, store writes = $storeWrites, " +
            "flush failures = $flushFailures"
}
