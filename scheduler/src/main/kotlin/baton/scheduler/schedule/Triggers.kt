package baton.scheduler.schedule

import baton.scheduler.Trigger
import java.math.BigInteger
import java.time.Instant
import kotlin.time.Duration
import kotlin.time.Duration.Companion.microseconds
import kotlin.time.Duration.Companion.milliseconds

internal class EveryTrigger(val period: Duration, val anchor: Instant?) : Trigger {
    init {
        requireTime("period", period)
    }

    val periodNanos: Long = period.inWholeNanoseconds
    private val anchorPhase: Long =
        if (anchor == null) 0 else Times.nanosOf(anchor).mod(BigInteger.valueOf(periodNanos)).toLong()

    /** Where the due times of [key] are between two multiples of the period, in nanoseconds. */
    fun phaseOf(key: Any): Long =
        if (anchor == null) Math.floorMod(mix(key.hashCode().toLong()), periodNanos) else anchorPhase

    override fun next(after: Instant): Instant = Times.instantOf(nextTime(Times.roundedDown(after), anchorPhase))

    /** The first due time after [after], in microseconds. */
    fun nextTime(after: Long, phase: Long): Long =
        Grid.timeOf(Grid.indexAt(after, periodNanos, phase) + 1, periodNanos, phase)

    override fun toString() = if (anchor == null) "every($period)" else "every($period, anchor = $anchor)"

    private companion object {
        /** The finalizer of SplitMix64 (Steele, Lea and Flood, 2014): keys in a row get phases far apart. */
        fun mix(hash: Long): Long {
            var bits = hash * -0x61c8864680b583ebL
            bits = (bits xor (bits ushr 30)) * -0x40a7b892e31b1a47L
            bits = (bits xor (bits ushr 27)) * -0x6b2fb644ecceee15L
            return bits xor (bits ushr 31)
        }
    }
}

internal class FixedDelayTrigger(val delay: Duration) : Trigger {
    init {
        requireTime("delay", delay)
    }

    val delayMicros: Long =
        delay.inWholeMicroseconds.coerceAtMost(Times.LATEST).let { if (it.microseconds < delay) it + 1 else it }

    override fun next(after: Instant): Instant = Times.instantOf(Times.saturated(Times.roundedUp(after), delayMicros))

    override fun toString() = "fixedDelay($delay)"
}

internal class AtTrigger(val instant: Instant) : Trigger {
    override fun next(after: Instant): Instant? = instant.takeIf { it > after }

    override fun toString() = "at($instant)"
}

internal class NamedTrigger(val name: String, trigger: Trigger) : Trigger {
    init {
        require(name.isNotBlank()) { "name = '$name', must not be blank" }
    }

    val trigger: Trigger = effective(trigger)

    override fun next(after: Instant): Instant? = trigger.next(after)

    override fun toString() = "named($name, $trigger)"
}

/** The trigger of a row that this schedule cannot read. The row keeps its [text]. */
internal class UnknownTrigger(val text: String, private val reason: String) : Trigger {
    override fun next(after: Instant): Instant? = throw IllegalStateException(reason)

    override fun toString() = "unknown($text)"
}

/** The trigger without its name. */
internal fun effective(trigger: Trigger): Trigger = if (trigger is NamedTrigger) trigger.trigger else trigger

internal fun requireTime(name: String, time: Duration) {
    require(time >= 1.milliseconds) { "$name = $time, must be at least 1ms" }
    require(time.isFinite()) { "$name = $time, must be finite" }
}
