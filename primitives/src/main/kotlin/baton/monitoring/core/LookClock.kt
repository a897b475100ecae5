package baton.monitoring.core

import kotlin.time.AbstractLongTimeSource
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.DurationUnit
import kotlin.time.TimeSource

/**
 * The time between the looks of a monitor, in the clock of its dispatcher.
 *
 * That clock cannot be read. It is the system's, unless a delay ends long before its time: then it is virtual, and each
 * look is one [every] after the one before.
 */
internal class LookClock(every: Duration) {
    /** A delay is rounded up to whole milliseconds. */
    private val tickMillis = (every + 999_999.nanoseconds).inWholeMilliseconds

    @Volatile
    var now: Moment = Moment(0, System.nanoTime())
        private set

    @Volatile
    var isVirtual: Boolean = false
        private set

    /** The next look begins, after a delay which took so many [nanos] of the system's time. One thread at a time. */
    fun advance(nanos: Long) {
        if (nanos.nanoseconds < tickMillis.milliseconds / 2) isVirtual = true
        now = Moment(now.look + 1, System.nanoTime())
    }

    fun since(moment: Moment): Duration {
        val now = now
        return if (isVirtual) ((now.look - moment.look) * tickMillis).milliseconds
        else (now.nanos - moment.nanos).nanoseconds
    }

    /** The time of the looks. */
    fun timeSource(): TimeSource.WithComparableMarks {
        val start = now
        return object : AbstractLongTimeSource(DurationUnit.NANOSECONDS) {
            override fun read(): Long = since(start).inWholeNanoseconds
        }
    }

    /** The time of a look. */
    class Moment(val look: Long, val nanos: Long)
}
