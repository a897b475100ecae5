@file:JvmSynthetic

package baton.resilience.breaker

import baton.resilience.CircuitBreakerConfig
import baton.resilience.SlidingWindow
import kotlin.time.Duration

/**
 * The calls in a [SlidingWindow], by their outcomes. It knows no clock, and is guarded by the lock of its breaker's
 * core.
 */
internal abstract class CallWindow {
    /** At most [Int.MAX_VALUE] - 1; above that it does not count. */
    var calls: Int = 0
        private set

    private var failures = 0
    private var slow = 0

    val failureRate: Double
        get() = share(failures, calls)

    val slowRate: Double
        get() = share(slow, calls)

    /** Whether another success would change nothing. */
    open val isSaturatedWithSuccess: Boolean
        get() = false

    protected val isFlawless: Boolean
        get() = failures == 0 && slow == 0

    /** Forgets the results that are too old at [time]. */
    open fun advance(time: Long) {}

    /** Whether the breaker has to open when [outcome] is added. */
    fun opensWith(outcome: CountedOutcome, config: CircuitBreakerConfig): Boolean {
        val oldest = leavingWith(outcome)
        val calls = if (oldest == null) calls + 1 else calls
        return calls >= config.minimumCalls &&
            (share(failures.changed(oldest, outcome, CountedOutcome.FAILURE), calls) >= config.failureRate ||
                share(slow.changed(oldest, outcome, CountedOutcome.SLOW), calls) >= config.slowRate)
    }

    fun add(outcome: CountedOutcome) {
        if (calls == Int.MAX_VALUE - 1) return
        val oldest = leavingWith(outcome)
        val newFailures = failures.changed(oldest, outcome, CountedOutcome.FAILURE)
        val newSlow = slow.changed(oldest, outcome, CountedOutcome.SLOW)
        store(outcome)
        if (oldest == null) calls++
        failures = newFailures
        slow = newSlow
    }

    fun clear() {
        calls = 0
        failures = 0
        slow = 0
        forgetAll()
    }

    protected fun forget(calls: Int, failures: Int, slow: Int) {
        this.calls -= calls
        this.failures -= failures
        this.slow -= slow
    }

    /** The outcome that leaves the window when [outcome] enters it, or null. */
    protected abstract fun leavingWith(outcome: CountedOutcome): CountedOutcome?

    protected abstract fun store(outcome: CountedOutcome)

    protected abstract fun forgetAll()

    internal companion object {
        fun of(window: SlidingWindow): CallWindow =
            when (window) {
                is SlidingWindow.Calls -> CallRing(window.size)
                is SlidingWindow.Time -> CallBuckets(window.length)
            }

        /** The quotient of two Ints is rounded as the decimal text of a rate is: 7 of 100 are 0.07. */
        private fun share(part: Int, calls: Int) = if (calls == 0) 0.0 else part.toDouble() / calls

        private fun Int.changed(leaves: CountedOutcome?, enters: CountedOutcome, counted: CountedOutcome): Int =
            this - (if (leaves == counted) 1 else 0) + (if (enters == counted) 1 else 0)
    }
}

/** The latest [size] calls: a ring of two bits each. Its memory grows with the calls that have come. */
private class CallRing(private val size: Int) : CallWindow() {
    private var words = LongArray(minOf(size.toLong() / IN_WORD + 1, FIRST_WORDS).toInt())

    /** Where the next outcome goes; that of the oldest one, once the ring is full. */
    private var position = 0

    override val isSaturatedWithSuccess: Boolean
        get() = calls == size && isFlawless

    override fun leavingWith(outcome: CountedOutcome): CountedOutcome? {
        if (calls < size) return null
        return OUTCOMES[(words[position / IN_WORD] ushr shift()).toInt() and MASK]
    }

    override fun store(outcome: CountedOutcome) {
        val word = position / IN_WORD
        if (word == words.size) words = words.copyOf(minOf(size.toLong() / IN_WORD + 1, 2L * word).toInt())
        val others = words[word] and (MASK.toLong() shl shift()).inv()
        words[word] = others or (outcome.ordinal.toLong() shl shift())
        position = if (position + 1 == size) 0 else position + 1
    }

    private fun shift() = position % IN_WORD * BITS

    override fun forgetAll() {
        position = 0
    }

    private companion object {
        const val BITS = 2
        const val IN_WORD = Long.SIZE_BITS / BITS
        const val MASK = 3
        const val FIRST_WORDS = 32L
        val OUTCOMES = CountedOutcome.values()
    }
}

/** The calls of the latest [length], in tenths. */
private class CallBuckets(length: Duration) : CallWindow() {
    private val nanosPerBucket = (length.inWholeNanoseconds - 1) / BUCKETS + 1
    private val buckets = Array(BUCKETS) { IntArray(COUNTS) }

    /** The number of the current bucket since time began. */
    private var current = 0L

    override fun advance(time: Long) {
        val now = time / nanosPerBucket
        val passed = minOf(now - current, BUCKETS.toLong()).toInt()
        for (i in 1..passed) {
            val bucket = buckets[((current + i) % BUCKETS).toInt()]
            forget(bucket[CALLS], bucket[FAILURES], bucket[SLOW])
            bucket.fill(0)
        }
        current = maxOf(current, now)
    }

    override fun leavingWith(outcome: CountedOutcome): CountedOutcome? = null

    override fun store(outcome: CountedOutcome) {
        val bucket = buckets[(current % BUCKETS).toInt()]
        bucket[CALLS]++
        if (outcome == CountedOutcome.FAILURE) bucket[FAILURES]++
        if (outcome == CountedOutcome.SLOW) bucket[SLOW]++
    }

    override fun forgetAll() {
        for (bucket in buckets) bucket.fill(0)
    }

    private companion object {
        const val BUCKETS = 10
        const val COUNTS = 3
        const val CALLS = 0
        const val FAILURES = 1
        const val SLOW = 2
    }
}
