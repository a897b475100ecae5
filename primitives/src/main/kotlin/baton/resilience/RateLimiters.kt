package baton.resilience

import baton.BatonClock
import baton.PermitTimeoutException
import baton.TooManyKeysException
import baton.monitoring.core.listIfNamed
import baton.waiting.clock.BoundClock
import baton.waiting.clock.ClockOwner
import baton.waiting.clock.SharedClock
import baton.waiting.keys.IdleRule
import baton.waiting.keys.KeyTable
import kotlin.contracts.ExperimentalContracts
import kotlin.contracts.InvocationKind
import kotlin.contracts.contract
import kotlin.time.Duration

/**
 * A [RateLimiter] for each key, such as a customer or an address: one that uses up its permits does not slow the
 * others.
 *
 * ```
 * val perCustomer = RateLimiters<String>(Rate(10, 1.seconds), burst = 20)
 * perCustomer.withPermit(customerId) { send(it) } // `it`: the key
 * ```
 *
 * Each key has a token bucket with the same [rate] and [burst], which begins full at its first call. With several rates
 * it is as of [RateLimiter.of]. Messages name it by the text of the key, with a [name] as in `customers[42]`.
 *
 * *Forgetting.* A bucket that is full is idle and is forgotten: a new one is the same. So no caller gets a permit more
 * by it. There is no timer: a call forgets two idle buckets on average.
 *
 * *Bound.* There are never more than [maxKeys] buckets, of about 500 bytes each and the key. A new key takes the place
 * of an idle one. If there is none, its call gets a [TooManyKeysException], and never a fresh bucket.
 *
 * *Waiting, order, cancellation, memory.* As [RateLimiter], for each key by itself.
 *
 * *Misuse.* Keys must not change their `equals` and `hashCode`, which are called under a lock. A request for fewer than
 * 1 permit, or for more than [burst], throws [IllegalArgumentException].
 *
 * All members may be called from any thread.
 *
 * @property rate how fast permits come, for each key; of several rates, the first.
 * @property maxKeys the most buckets, at least 1.
 * @property name shown by messages and [toString].
 * @param others further rates, each of which bounds the same permits.
 * @param burst how many unused permits of a key are saved up for the first rate, at least 1; for each other rate so
 *   many as it brings in its time.
 * @param maxWaiting how many callers may wait for permits of one key, at least 0; further ones get a
 *   [RateLimitedException] at once.
 * @param clock the clock by which permits come; by default that of the system, or of a test with virtual time: see
 *   [BatonClock].
 * @throws IllegalArgumentException if a number is out of bounds.
 */
public class RateLimiters<K : Any>(
    public val rate: Rate,
    vararg others: Rate,
    burst: Long = rate.permits,
    public val maxKeys: Int = KeyTable.DEFAULT_MAX_KEYS,
    private val maxWaiting: Int = Int.MAX_VALUE,
    clock: BatonClock? = null,
    public val name: String? = null,
) {
    private val others = others.asList()

    /** How many permits of a key can be had at once, as [RateLimiter.burst]. */
    public val burst: Long = others.fold(burst) { least, rate -> minOf(least, rate.permits) }

    private val firstBurst = burst
    private val rule = Rule(clock)

    @get:JvmSynthetic
    internal val table: KeyTable<K, RateLimiter> = KeyTable("RateLimiters", name, maxKeys, rule, ::newLimiter)

    init {
        newLimiter(Unit) // Checks the arguments. It is not listed, as one with the name of a user would be.
        table.listIfNamed { it.core }
    }

    private fun newLimiter(named: Any) =
        RateLimiter(rate, others, firstBurst, isLeaky = false, maxWaiting, rule.clock, named)

    private inner class Rule(given: BatonClock?) : IdleRule<RateLimiter>, ClockOwner {
        override val clock: BoundClock = SharedClock(given, this)

        override val needsLastUse: Boolean
            get() = false

        override fun nanosUntilIdle(value: RateLimiter, now: Long, lastUse: Long): Long = value.core.nanosUntilFull(now)

        override val ownerLabel: String
            get() = table.label()

        override val isAwaited: Boolean
            get() = table.values.any { it.waiting > 0 }
    }

    /** How many buckets there are, those included that are full and not forgotten yet. */
    public val size: Int
        get() = table.size

    /**
     * Takes [permits] of [key], and waits for them if necessary.
     *
     * *Cancellation.* Throws, and has taken nothing.
     *
     * @throws IllegalArgumentException if [permits] is below 1 or above [burst].
     * @throws RateLimitedException if as many callers wait for this key as may wait.
     * @throws TooManyKeysException if [key] is new and there is no place for it.
     */
    public suspend fun acquire(key: K, permits: Int = 1) {
        table.use(key) { it.acquire(permits) }
    }

    /**
     * Takes [permits] of [key] if that needs no waiting. It does not overtake waiting callers.
     *
     * @throws IllegalArgumentException if [permits] is below 1 or above [burst].
     * @throws TooManyKeysException if [key] is new and there is no place for it.
     */
    public fun tryAcquire(key: K, permits: Int = 1): Boolean = table.use(key) { it.tryAcquire(permits) }

    /**
     * Takes [permits] of [key], and waits [timeout] at most. If the permits cannot be there in that time, it returns
     * false at once. With zero or less it does not wait. See [RateLimiter.tryAcquire].
     *
     * *Cancellation.* As [acquire], and so are the exceptions.
     */
    public suspend fun tryAcquire(key: K, permits: Int = 1, timeout: Duration): Boolean =
        table.use(key) { it.tryAcquire(permits, timeout) }

    /** Runs [action] once a permit of [key] was taken, which is not given back. Throws as [acquire]. */
    @OptIn(ExperimentalContracts::class)
    public suspend inline fun <T> withPermit(key: K, action: (K) -> T): T {
        contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
        acquire(key)
        return action(key)
    }

    /**
     * As the other, but waits [timeout] at most for the permit; at zero or less it does not wait.
     *
     * @throws PermitTimeoutException if the permit cannot be there in time; [action] has not run. Its `retryIn` is the
     *   time after which the permit is there, if no other caller takes it.
     */
    @OptIn(ExperimentalContracts::class)
    public suspend inline fun <T> withPermit(key: K, timeout: Duration, action: (K) -> T): T {
        contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
        acquireWithin(key, timeout)
        return action(key)
    }

    @PublishedApi
    @JvmSynthetic
    internal suspend fun acquireWithin(key: K, timeout: Duration): Unit = table.use(key) { it.acquireWithin(timeout) }

    override fun toString(): String =
        "${table.label()} (${(listOf(rate) + others).joinToString(" and ")}, burst = $burst, size = $size, maxKeys = $maxKeys)"
}
