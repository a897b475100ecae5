package baton.test.history

/** Who held how much of something when, by the clock of the test. */
class Holders(private val permits: Int) {
    private class Interval(val holder: String, val weight: Int, val begin: Long) {
        var end = Long.MAX_VALUE

        override fun toString() = "$holder held $weight from $begin to $end"
    }

    private val intervals = ArrayList<Interval>()

    /** The [holder] has [weight] from [begin] on. The result is called with the end, of which the earliest counts. */
    fun hold(holder: String, weight: Int, begin: Long): (Long) -> Unit {
        val interval = Interval(holder, weight, begin)
        synchronized(intervals) { intervals += interval }
        return { end -> synchronized(intervals) { interval.end = minOf(interval.end, maxOf(end, begin)) } }
    }

    /** Null if at no time more was held than there is; else who held what at the first such time. */
    fun violation(): String? {
        val all = synchronized(intervals) { intervals.filter { it.end > it.begin } }
        for (moment in all.map { it.begin }.sorted()) {
            val at = all.filter { it.begin <= moment && moment < it.end }
            if (at.sumOf { it.weight } > permits) return "more than $permits at $moment: $at"
        }
        return null
    }
}
