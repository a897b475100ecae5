package baton.resilience

import baton.monitoring.Alert
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.monitoring.core.AlertBounds
import baton.monitoring.usageOf
import java.math.BigDecimal
import java.util.concurrent.atomic.AtomicLong

/**
 * Bounds the retries of all calls that share it, so that retries do not multiply the load of a service that is failing.
 *
 * ```
 * val budget = RetryBudget(ratio = 0.2, burst = 10)       // one retry for five successes, ten at once
 * val policy = RetryPolicy(budget = budget)
 * ```
 *
 * It begins with [burst] retries. A call that succeeds earns [ratio] of a retry, a retry spends one, and with less than
 * one left there is no retry. A retry that is refused spends nothing. One that is decided has spent, even if the call
 * is cancelled while it waits.
 *
 * *Waiting.* Never. *Order.* None. *Memory.* It publishes nothing to the calls that share it.
 *
 * @property ratio the part of a retry that a success earns, at least 0. It counts exactly as its decimal text has it,
 *   up to the digit that still fits beside [burst] into 18.
 * @property burst the greatest number of retries that can be saved up, at least 0.
 */
public class RetryBudget(public val ratio: Double = 0.2, public val burst: Int = 10) : Monitored {
    /** A retry in the units of the balance: a power of ten, and the greatest for which all sums fit into a Long. */
    private val unit: Long
    private val most: Long
    private val earned: Long
    private val balance: AtomicLong

    init {
        require(ratio >= 0 && ratio.isFinite()) { "ratio = $ratio, must be finite and at least 0.0" }
        require(burst >= 0) { "burst = $burst, must be at least 0" }
        var power = 1L
        while (power <= LARGEST / RADIX / maxOf(burst, 1)) power *= RADIX
        unit = power
        most = burst * power
        earned = (BigDecimal.valueOf(ratio) * power.toBigDecimal()).min(most.toBigDecimal()).toLong()
        balance = AtomicLong(most)
    }

    /** How many retries are left, rounded down. */
    public val available: Int
        get() = (balance.get() / unit).toInt()

    /** None. */
    override val name: String?
        get() = null

    /** The retries of the [burst] that are spent. A monitor raises [Alert.Kind.RETRY_STORM] when all of them are. */
    override fun usage(): Usage = usageOf((burst - available).toLong(), burst.toLong(), EMPTY_BOUNDS)

    /** A call has succeeded. While the budget is full, this writes nothing. */
    @JvmSynthetic
    internal fun earn() {
        if (earned == 0L) return
        while (true) {
            val now = balance.get()
            if (now == most || balance.compareAndSet(now, minOf(most, now + earned))) return
        }
    }

    /** Spends one retry, if there is one. */
    @JvmSynthetic
    internal fun trySpend(): Boolean {
        while (true) {
            val now = balance.get()
            if (now < unit) return false
            if (balance.compareAndSet(now, now - unit)) return true
        }
    }

    override fun toString(): String = "RetryBudget (available = $available of $burst, ratio = $ratio)"

    private companion object {
        /** The bound of the balance and of each gain, so that their sum is a Long. */
        const val LARGEST = Long.MAX_VALUE / 2
        const val RADIX = 10
        val EMPTY_BOUNDS = AlertBounds.all(Alert.Kind.RETRY_STORM)
    }
}
