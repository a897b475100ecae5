package baton.scheduler.schedule

import java.math.BigInteger
import java.time.Instant

/**
 * Instants as whole microseconds since the epoch, which a [DueHeap] stores. Due times are rounded up and the clock is
 * rounded down, so nothing is early. Years beyond 36,000 saturate.
 */
internal object Times {
    /** No due time. */
    const val NEVER = Long.MAX_VALUE

    /** The bounds of a due time: three bits of a Long are the level. */
    const val LATEST = (1L shl 60) - 1
    const val EARLIEST = -LATEST

    private const val MICROS_PER_SECOND = 1_000_000L
    private const val NANOS_PER_MICRO = 1_000L
    private const val LATEST_SECOND = LATEST / MICROS_PER_SECOND - 1
    private val NANOS_PER_SECOND = BigInteger.valueOf(1_000_000_000L)

    fun roundedDown(instant: Instant): Long =
        when {
            instant.epochSecond > LATEST_SECOND -> LATEST
            instant.epochSecond < -LATEST_SECOND -> EARLIEST
            else -> instant.epochSecond * MICROS_PER_SECOND + instant.nano / NANOS_PER_MICRO
        }

    fun roundedUp(instant: Instant): Long = saturated(roundedDown(instant), if (instant.nano % 1_000 == 0) 0 else 1)

    fun instantOf(micros: Long): Instant =
        Instant.ofEpochSecond(
            Math.floorDiv(micros, MICROS_PER_SECOND),
            Math.floorMod(micros, MICROS_PER_SECOND) * NANOS_PER_MICRO,
        )

    /** [time] plus [added] microseconds, which are not negative. */
    fun saturated(time: Long, added: Long): Long = if (added > LATEST - time) LATEST else time + added

    /** The smallest multiple of [unit] that is not before [time]. */
    fun roundedUp(time: Long, unit: Long): Long = saturated(time, Math.floorMod(-time, unit))

    fun microsRoundedUp(nanos: Long): Long = -Math.floorDiv(-nanos, NANOS_PER_MICRO)

    fun nanosOf(instant: Instant): BigInteger =
        BigInteger.valueOf(instant.epochSecond) * NANOS_PER_SECOND + BigInteger.valueOf(instant.nano.toLong())
}
