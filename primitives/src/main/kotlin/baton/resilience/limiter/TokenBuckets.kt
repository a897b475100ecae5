package baton.resilience.limiter

import baton.resilience.Rate

/**
 * The tokens of several rates: a bucket for each. The cap of the first is the burst, that of each other one the number
 * of its rate.
 *
 * A request takes its tokens from all buckets in the step in which each of them has so many, and puts them back into
 * all. So the bucket that has least says how many there are.
 *
 * A reservation whose time has not come waits for one bucket, while others may be full. Had it taken its tokens out of
 * these in advance, they would fill again before it is used, and grant more than their rate allows. So its tokens stay
 * in the buckets, and are only [owed] until its time comes; then they are taken, as the buckets are at that very
 * moment: [RateQueue.refill] stops there. With one bucket it would make no difference, because in debt it is never
 * full.
 *
 * A reservation that was made when the burst was greater takes more tokens than a bucket can hold. It does not wait for
 * more than that, and leaves the bucket in debt.
 */
internal class TokenBuckets private constructor(val rates: List<Rate>, private val buckets: Array<TokenBucket>) :
    Tokens() {
    constructor(
        rates: List<Rate>,
        burst: Long,
    ) : this(rates, Array(rates.size) { TokenBucket(rates[it], if (it == 0) burst else rates[it].permits) })

    private var owed = 0L

    /**
     * That of a bucket that was not refilled, for want of memory, may be earlier: then it has less tokens than later.
     */
    override val time: Long
        get() = buckets[0].time

    override val whole: Long
        get() = buckets.minOf { it.whole } - owed

    override fun refill(now: Long) {
        for (bucket in buckets) bucket.refill(now)
    }

    override fun take(number: Int) {
        for (bucket in buckets) bucket.take(number)
    }

    override fun putBack(number: Int) {
        for (bucket in buckets) bucket.putBack(number)
    }

    override fun takeInAdvance(number: Int): Boolean {
        val areThere = whole >= number
        if (areThere) take(number) else owed += number
        return areThere
    }

    override fun isDue(number: Int, advance: Long): Boolean = timeOfNext(number) <= time

    override fun settleAdvance(number: Int) {
        owed -= number
        take(number)
    }

    override fun putBackAdvance(number: Int) {
        owed -= number
    }

    override fun mostWith(newCap: Long): Long {
        var most = newCap
        for (i in 1..rates.lastIndex) most = minOf(most, rates[i].permits)
        return most
    }

    override fun changeCap(newCap: Long) {
        buckets[0].changeCap(newCap)
    }

    override fun changeRate(rate: Rate) {
        buckets[0].changeRate(rate)
    }

    /**
     * As if no bucket became full before that. So it is exact for the next request, and the earliest time for one that
     * waits behind others.
     */
    override fun nanosUntil(number: Long): Long = buckets.maxOf { it.nanosUntil(number + owed) }

    override fun nanosUntilFull(): Long = buckets.maxOf { it.nanosUntilFull() }

    /** The moment at which the first caller that waits, or has taken tokens in advance, can take [number] tokens. */
    fun timeOfNext(number: Int): Long = buckets.maxOf { it.timeOfNext(number) }

    /** Goes on to that moment, and takes them. */
    fun takeNext(number: Int) {
        refill(timeOfNext(number))
        take(number)
    }

    /** A copy in which nothing is owed, to look ahead with. */
    fun ahead() = TokenBuckets(rates, Array(buckets.size) { buckets[it].copy() })
}
