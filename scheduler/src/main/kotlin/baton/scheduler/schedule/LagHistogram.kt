package baton.scheduler.schedule

/**
 * Counts times in buckets whose width is at most a sixteenth of their lower bound. The lock of the EntryTable guards
 * it.
 */
internal class LagHistogram {
    private val counts = LongArray(BUCKETS)
    private var total = 0L
    private var longest = 0L

    /** Of all times. */
    var sum = 0L
        private set

    /** Records [micros], which is not negative. */
    fun record(micros: Long) {
        counts[bucketOf(micros)]++
        total++
        sum += micros
        longest = maxOf(longest, micros)
    }

    /**
     * A time that [share] of all times do not exceed: the upper bound of its bucket, or the longest time; 0 if none.
     */
    fun quantile(share: Double): Long {
        var rest = Math.ceil(share * total).toLong()
        if (rest == 0L) return 0
        for (bucket in counts.indices) {
            rest -= counts[bucket]
            if (rest <= 0) return minOf(upperBoundOf(bucket), longest)
        }
        return longest
    }

    /** Times below 16 are exact; above, the four bits after the highest one count. */
    private fun bucketOf(micros: Long): Int {
        if (micros < SIXTEEN) return micros.toInt()
        val shift = Long.SIZE_BITS - 1 - BITS - micros.countLeadingZeroBits()
        return (shift + 1) * SIXTEEN + ((micros ushr shift) and (SIXTEEN - 1L)).toInt()
    }

    private fun upperBoundOf(bucket: Int): Long {
        if (bucket < SIXTEEN) return bucket.toLong()
        val shift = bucket / SIXTEEN - 1
        return ((SIXTEEN + bucket % SIXTEEN + 1).toLong() shl shift) - 1
    }

    private companion object {
        const val BITS = 4
        const val SIXTEEN = 1 shl BITS
        const val BUCKETS = (Long.SIZE_BITS - BITS) * SIXTEEN
    }
}
