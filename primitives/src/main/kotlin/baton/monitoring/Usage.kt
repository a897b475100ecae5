@file:JvmSynthetic
@file:Suppress("NEWER_VERSION_IN_SINCE_KOTLIN")

package baton.monitoring

import baton.FOR_JAVA_ALONE
import baton.InternalBatonApi
import baton.monitoring.core.AlertBounds
import baton.waiting.WaitLook
import baton.waiting.WaitNote
import baton.waiting.WaitWatch
import java.time.Duration as JavaDuration
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.toJavaDuration

/**
 * How much of a capacity is in use, and which callers wait.
 *
 * [inUse] is a sample: it does not show what came and went between two looks. [peakWaiting] does show that callers had
 * to wait.
 *
 * @property inUse how much is in use, at least 0. It may exceed the [capacity], say after that was lowered.
 * @property capacity how much there is, at least 0.
 * @property waiting how many callers wait, at least 0.
 * @property longestWait how long the longest of their waits has lasted; zero if no caller waits.
 * @property peakWaiting the most callers that waited at a time: in what a [Monitor] returns, since that was last read;
 *   in what an object of this library returns, since it was made. A [Monitor] takes that of a usage that you make for
 *   the peak since its last look, so do not copy it from another usage.
 * @property waiters the first ten of the callers that wait: the name of the coroutine or thread, or the owner.
 * @property totals how often things have happened since the beginning, by name, such as `started` of a task scheduler.
 * @property longestRun how long the oldest of the tasks or runs that go on has run; zero if none does, or if the source
 *   runs none.
 * @throws IllegalArgumentException if a number or the time is negative.
 */
public class Usage(
    public val inUse: Long,
    public val capacity: Long,
    public val waiting: Int = 0,
    public val longestWait: Duration = Duration.ZERO,
    public val peakWaiting: Int = 0,
    public val waiters: List<String> = emptyList(),
    public val totals: Map<String, Long> = emptyMap(),
    public val longestRun: Duration = Duration.ZERO,
) {
    /** The bounds of an alert; null for [Alert.Kind.UTILISATION] by the rules of the monitor. */
    internal var bounds: AlertBounds? = null
        private set

    /** The wait that [longestWait] belongs to; null if unknown. Only compared. */
    internal var longest: WaitNote? = null
        private set

    /**
     * The readers of the peaks of its waits. Null for a usage made by a user: its [peakWaiting] is since the last look.
     */
    internal var watch: WaitWatch? = null
        private set

    init {
        require(inUse >= 0) { "inUse = $inUse, must be at least 0" }
        require(capacity >= 0) { "capacity = $capacity, must be at least 0" }
        require(waiting >= 0) { "waiting = $waiting, must be at least 0" }
        require(!longestWait.isNegative()) { "longestWait = $longestWait, must be at least 0s" }
        require(peakWaiting >= 0) { "peakWaiting = $peakWaiting, must be at least 0" }
        require(!longestRun.isNegative()) { "longestRun = $longestRun, must be at least 0s" }
    }

    /** [inUse] as a share of the [capacity]. Without a capacity it is 0.0 if nothing is in use, else 1.0. */
    public val share: Double
        get() =
            when {
                inUse == 0L -> 0.0
                capacity == 0L -> 1.0
                else -> inUse.toDouble() / capacity
            }

    /** [longestWait] for Java. */
    @SinceKotlin(FOR_JAVA_ALONE) public fun longestWait(): JavaDuration = longestWait.toJavaDuration()

    /** [longestRun] for Java. */
    @SinceKotlin(FOR_JAVA_ALONE) public fun longestRun(): JavaDuration = longestRun.toJavaDuration()

    /** The same with another [longestWait] and [peakWaiting]. */
    internal fun with(longestWait: Duration, peakWaiting: Int): Usage =
        Usage(inUse, capacity, waiting, longestWait, peakWaiting, waiters, totals, longestRun)
            .with(bounds, longest, watch)

    /** This new usage, with the values that users do not give. */
    @JvmSynthetic
    internal fun with(bounds: AlertBounds?, longest: WaitNote? = null, watch: WaitWatch? = null): Usage {
        this.bounds = bounds
        this.longest = longest
        this.watch = watch
        return this
    }

    override fun toString(): String {
        val wait = if (waiting == 0) "" else ", longest wait = $longestWait, waiters = $waiters"
        val run = if (longestRun == Duration.ZERO) "" else ", longest run = $longestRun"
        return "in use = $inUse of $capacity, waiting = $waiting, peak = $peakWaiting$wait$run"
    }
}

/** The same with these [totals], and the readers of the waits. */
@InternalBatonApi
public fun Usage.withTotals(totals: Map<String, Long>, watch: WaitWatch? = this.watch): Usage =
    Usage(inUse, capacity, waiting, longestWait, peakWaiting, waiters, totals, longestRun).with(bounds, longest, watch)

/** The usage of a primitive whose waiters are those of a core. */
internal fun WaitLook.toUsage(
    inUse: Long,
    capacity: Long,
    totals: Map<String, Long> = emptyMap(),
    bounds: AlertBounds? = null,
): Usage =
    Usage(inUse, capacity, waiting, longestNanos.nanoseconds, peakWaiting, names, totals).with(bounds, longest, watch)

/** The usage of what has no waiters of its own, and raises an alert at these [bounds]. */
internal fun usageOf(inUse: Long, capacity: Long, bounds: AlertBounds): Usage = Usage(inUse, capacity).with(bounds)
