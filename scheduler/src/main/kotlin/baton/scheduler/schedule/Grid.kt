package baton.scheduler.schedule

import java.math.BigInteger

/**
 * The arithmetic of fixed-rate due times: phase + k × period, both in nanoseconds, and so without drift for any period.
 * A phase is at least 0 and less than the period. Times are microseconds since the epoch.
 */
internal object Grid {
    private const val NANOS_PER_MICRO = 1_000L

    /** With smaller operands the sums and products below fit into a Long. */
    private const val SMALL = Long.MAX_VALUE / 4

    private val EARLIEST = BigInteger.valueOf(Times.EARLIEST)
    private val LATEST = BigInteger.valueOf(Times.LATEST)

    /** The k of the last due time that is not after [time]. */
    fun indexAt(time: Long, period: Long, phase: Long): Long {
        if (Math.abs(time) < SMALL / NANOS_PER_MICRO && phase < SMALL)
            return Math.floorDiv(time * NANOS_PER_MICRO - phase, period)
        val nanos = BigInteger.valueOf(time) * BigInteger.valueOf(NANOS_PER_MICRO) - BigInteger.valueOf(phase)
        val (quotient, rest) = nanos.divideAndRemainder(BigInteger.valueOf(period))
        return if (rest.signum() < 0) quotient.toLong() - 1 else quotient.toLong()
    }

    /** The due time number [index], rounded up to whole microseconds. */
    fun timeOf(index: Long, period: Long, phase: Long): Long {
        val product = index * period
        if (Math.multiplyHigh(index, period) == product shr 63 && Math.abs(product) < SMALL && phase < SMALL)
            return Times.microsRoundedUp(product + phase)
        val nanos = BigInteger.valueOf(index) * BigInteger.valueOf(period) + BigInteger.valueOf(phase)
        val (quotient, rest) = nanos.divideAndRemainder(BigInteger.valueOf(NANOS_PER_MICRO))
        val micros = if (rest.signum() > 0) quotient + BigInteger.ONE else quotient
        return micros.max(EARLIEST).min(LATEST).toLong()
    }
}
