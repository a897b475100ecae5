package baton.resilience.breaker

/**
 * The places of the probes of one time in HALF_OPEN, by the order in which they were taken: so the first one that is
 * lost for want of a result is always the oldest. Guarded by the lock of the breaker's core.
 *
 * @param nanos how long a probe keeps its place; at the end of that time it is lost.
 */
internal class ProbePlaces(private val capacity: Int, private val nanos: Long) {
    private var oldest: Probe? = null
    private var newest: Probe? = null
    private var taken = 0

    /** A place that is free at [time], or null. */
    fun tryTake(time: Long): Probe? {
        dropLost(time)
        if (taken == capacity) return null
        val end = time + nanos
        val probe = Probe(this, if (end >= 0) end else Long.MAX_VALUE)
        probe.older = newest
        newest?.newer = probe
        if (oldest == null) oldest = probe
        newest = probe
        taken++
        return probe
    }

    /** Whether [probe] has its place at [time]. */
    fun holds(probe: Probe, time: Long): Boolean {
        dropLost(time)
        return probe.hasPlace
    }

    fun giveBack(probe: Probe) {
        val older = probe.older
        val newer = probe.newer
        if (older == null) oldest = newer else older.newer = newer
        if (newer == null) newest = older else newer.older = older
        probe.hasPlace = false
        probe.older = null
        probe.newer = null
        taken--
    }

    /** The time from [time] until a place is free even if no probe comes back. */
    fun nanosUntilFree(time: Long): Long {
        dropLost(time)
        return if (taken < capacity) 0 else oldest!!.lostAt - time
    }

    private fun dropLost(time: Long) {
        while (true) {
            val probe = oldest ?: return
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
internal class Probe(@JvmField val places: ProbePlaces, @JvmField val lostAt: Long) {
    // Guarded by the lock of the breaker's core.
    @JvmField var hasPlace = true
    @JvmField var older: Probe? = null
    @JvmField var newer: Probe? = null
}
