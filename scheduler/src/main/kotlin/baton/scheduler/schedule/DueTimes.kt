package baton.scheduler.schedule

import baton.scheduler.Misfire
import baton.scheduler.Trigger
import java.time.Instant

/**
 * The result of evaluating a trigger for an entry. It may run code of the user and so runs without the lock. Each
 * thread has its own; the loop reuses one, so that a fire at a fixed rate allocates nothing.
 */
internal class DueTimes(private val misfire: Misfire) {
    /** The next due time, or [Times.NEVER]. */
    var next = Times.NEVER
        private set

    /** How many due times have passed by now, the one that the entry had included. */
    var passed = 1L
        private set

    /** The exception of the trigger. */
    var failure: Throwable? = null
        private set

    /** The due times that have passed, if the trigger is the user's: only so many are counted. */
    private val times = LongArray(COUNTED)

    /** The due time of a new entry at [now]. That of [AtTrigger] may be past. */
    fun first(trigger: Trigger, key: Any, now: Long) {
        evaluate {
            when (val effective = effective(trigger)) {
                is EveryTrigger -> effective.nextTime(now, effective.phaseOf(key))
                is FixedDelayTrigger -> Times.saturated(now, effective.delayMicros)
                is AtTrigger -> Times.roundedUp(effective.instant)
                else -> timeAfter(effective, now).coerceAtLeast(now)
            }
        }
    }

    /** The due times after [due], which is not after [now]. */
    fun after(trigger: Trigger, key: Any, due: Long, now: Long) {
        evaluate {
            when (val effective = effective(trigger)) {
                is EveryTrigger -> afterOnGrid(effective, effective.phaseOf(key), due, now)
                is FixedDelayTrigger,
                is AtTrigger -> Times.NEVER
                else -> afterByCalls(effective, due, now)
            }
        }
        // Beyond the year 36,000 there is none.
        if (next <= now) next = Times.NEVER
    }

    private inline fun evaluate(next: () -> Long) {
        passed = 1
        failure = null
        try {
            this.next = next()
        } catch (e: Throwable) {
            this.next = Times.NEVER
            failure = e
        }
    }

    private fun afterOnGrid(trigger: EveryTrigger, phase: Long, due: Long, now: Long): Long {
        val index = Grid.indexAt(now, trigger.periodNanos, phase)
        passed = (index - Grid.indexAt(due, trigger.periodNanos, phase) + 1).coerceAtLeast(1)
        return Grid.timeOf(index + 1, trigger.periodNanos, phase)
    }

    private fun afterByCalls(trigger: Trigger, due: Long, now: Long): Long {
        times[0] = due
        while (true) {
            val last = times[passed.toInt() - 1]
            val next = timeAfter(trigger, last)
            if (next > now) return next
            // A time that does not come after the last one counts as the present.
            if (next <= last) return now + 1
            if (passed == COUNTED.toLong()) return timeAfter(trigger, now).coerceAtLeast(now + 1)
            times[passed++.toInt()] = next
        }
    }

    private fun timeAfter(trigger: Trigger, time: Long): Long {
        val next: Instant = trigger.next(Times.instantOf(time)) ?: return Times.NEVER
        return Times.roundedUp(next)
    }

    /** How many runs make up for the due times that have passed. */
    val runs: Int
        get() = if (misfire is Misfire.CatchUp) minOf(passed, misfire.max.toLong()).toInt() else 1

    /** The runs after the first one, or null if there is only one. */
    fun catchUp(trigger: Trigger, key: Any, due: Long): CatchUp? {
        val left = runs - 1
        if (left == 0) return null
        val every = effective(trigger) as? EveryTrigger ?: return CatchUpOfTimes(times.copyOfRange(1, left + 1))
        val phase = every.phaseOf(key)
        val index = Grid.indexAt(due, every.periodNanos, phase)
        return CatchUpOnGrid(every.periodNanos, phase, index, left)
    }

    private companion object {
        const val COUNTED = 101
    }
}

/** The due times for which further runs make up, one after another. */
internal sealed interface CatchUp {
    /** The next one, or [Times.NEVER] if none is left. */
    fun next(): Long
}

private class CatchUpOnGrid(
    private val period: Long,
    private val phase: Long,
    private var index: Long,
    private var left: Int,
) : CatchUp {
    override fun next() = if (left-- > 0) Grid.timeOf(++index, period, phase) else Times.NEVER
}

private class CatchUpOfTimes(private val times: LongArray) : CatchUp {
    private var taken = 0

    override fun next() = if (taken < times.size) times[taken++] else Times.NEVER
}
