package baton.resilience.breaker

import baton.waiting.LinkedEntries
import baton.waiting.LinkedEntry

/**
 * The places of the probes of one time in HALF_OPEN, by the order in which they were taken: so the first one that is
 * lost for want of a result is always the oldest. Guarded by the lock of the breaker's core.
 *
 * @param nanos how long a probe keeps its place; at the end of that time it is lost.
 */
internal class ProbePlaces(private val capacity: Int, private val nanos: Long) {
    private val taken = LinkedEntries<Probe>()

    /** A place that is free at [time], or null. */
    fun tryTake(time: Long): Probe? {
        dropLost(time)
        if (taken.size == capacity) return null
        val end = time + nanos
        return Probe(this, if (end >= 0) end else Long.MAX_VALUE).also(taken::add)
    }

    /** Whether [probe] has its place at [time]. */
    fun holds(probe: Probe, time: Long): Boolean {
        dropLost(time)
        return probe.hasPlace
    }

    fun giveBack(probe: Probe) {
        taken.remove(probe)
        probe.hasPlace = false
    }

    /** The time from [time] until a place is free even if no probe comes back. */
    fun nanosUntilFree(time: Long): Long {
        dropLost(time)
        val oldest = taken.first
        return if (oldest == null || taken.size < capacity) 0 else oldest.lostAt - time
    }

    private fun dropLost(time: Long) {
        while (true) {
            val probe = taken.first ?: return
            if (probe.lostAt > time) return
            giveBack(probe)
        }
    }
}

/**
 * A call that was let in while the breaker was half open.
 *
 * @property places those of the time in HALF_OPEN in which it was let in.
 */
internal class Probe(@JvmField val places: ProbePlaces, @JvmField val lostAt: Long) : LinkedEntry<Probe>() {
    /** Guarded by the lock of the breaker's core. */
    @JvmField var hasPlace = true
}
