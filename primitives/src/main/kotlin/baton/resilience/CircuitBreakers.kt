package baton.resilience

import baton.TooManyKeysException
import baton.monitoring.core.listIfNamed
import baton.waiting.clock.BoundClock
import baton.waiting.clock.ClockOwner
import baton.waiting.clock.SharedClock
import baton.waiting.keys.IdleRule
import baton.waiting.keys.KeyEntry
import baton.waiting.keys.KeyTable
import kotlin.contracts.ExperimentalContracts
import kotlin.contracts.InvocationKind
import kotlin.contracts.contract
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours

/**
 * A [CircuitBreaker] for each key: for each host, say, so that one that is down does not close the way to the others.
 *
 * ```
 * val perHost = CircuitBreakers<String>(config, keepIdle = 10.minutes)
 * val page = perHost.protect(url.host) { fetch(url) }
 * ```
 *
 * The first call of a key makes its breaker, closed and with the same [config] as all. Messages name it by the text of
 * its key, with a [name] as in `hosts[example.org]`.
 *
 * *Forgetting.* A breaker that is [BreakerState.CLOSED], and has not been used for [keepIdle], is idle and is
 * forgotten; the next call of its key makes a new one. Calls, [trip], [openFor], [reset] and [disable] are uses. There
 * is no timer: a call forgets two idle breakers on average. A breaker in another state is kept, however long it is
 * unused: it holds the knowledge that a service fails. [reset] closes the breaker of a host that is gone for good.
 *
 * *Bound.* There are never more than [maxKeys] breakers. A new key takes the place of an idle one. If there is none,
 * its call gets a [TooManyKeysException], and the block is not run. 100,000 breakers of the default window that have
 * never failed take about 75 MB.
 *
 * *Waiting, order, cancellation, memory.* As [CircuitBreaker].
 *
 * *Misuse.* Keys must not change their `equals` and `hashCode`, which are called under a lock.
 *
 * All members may be called from any thread.
 *
 * @property config of every breaker; its clock is also that of [keepIdle], and is read at the end of each call.
 * @property keepIdle how long an unused breaker is kept, above zero.
 * @property maxKeys the most breakers, at least 1.
 * @property name shown by messages and [toString].
 * @throws IllegalArgumentException if [keepIdle] or [maxKeys] is out of bounds.
 */
public class CircuitBreakers<K : Any>(
    public val config: CircuitBreakerConfig = DEFAULT_BREAKER_CONFIG,
    public val keepIdle: Duration = 1.hours,
    public val maxKeys: Int = KeyTable.DEFAULT_MAX_KEYS,
    public val name: String? = null,
) {
    @get:JvmSynthetic internal val table: KeyTable<K, CircuitBreaker>

    init {
        require(keepIdle.isPositive()) { "keepIdle = $keepIdle, must be above 0" }
        val rule = Rule()
        table = KeyTable("CircuitBreakers", name, maxKeys, rule) { CircuitBreaker(config).named(it, rule.clock) }
        table.listIfNamed { it.core }
    }

    private inner class Rule : IdleRule<CircuitBreaker>, ClockOwner {
        override val clock: BoundClock = SharedClock(config.clock, this)
        private val keepNanos = keepIdle.inWholeNanoseconds

        override val needsLastUse: Boolean
            get() = true

        override fun nanosUntilIdle(value: CircuitBreaker, now: Long, lastUse: Long): Long =
            if (value.state == BreakerState.CLOSED) keepNanos - (now - lastUse) else keepNanos

        override val ownerLabel: String
            get() = table.label()

        override val isAwaited: Boolean
            get() = table.values.any { it.waiting > 0 }
    }

    /** How many breakers there are, those included that are idle and not forgotten yet. */
    public val size: Int
        get() = table.size

    /**
     * Runs [block] if the breaker of [key] lets the call in, and counts its result. See [CircuitBreaker.protect].
     *
     * @throws CircuitOpenException if the breaker refuses the call; the block is not run then.
     * @throws TooManyKeysException if [key] is new and there is no place for it; the block is not run then.
     */
    @OptIn(ExperimentalContracts::class)
    public suspend inline fun <T> protect(key: K, block: (K) -> T): T {
        contract { callsInPlace(block, InvocationKind.EXACTLY_ONCE) }
        val lease = lease(key)
        try {
            return breakerOf(lease).protect { block(key) }
        } finally {
            end(lease)
        }
    }

    /** The state of the breaker of [key]; [BreakerState.CLOSED] if there is none. It is no use. */
    public fun state(key: K): BreakerState = table.peek(key)?.state ?: BreakerState.CLOSED

    /**
     * Refuses all calls of [key] until [reset] or [disable]: [BreakerState.FORCED_OPEN].
     *
     * @throws TooManyKeysException if [key] is new and there is no place for it.
     */
    public fun trip(key: K) {
        table.use(key) { it.trip() }
    }

    /**
     * Refuses all calls of [key] for [time]; then probes are let in. See [CircuitBreaker.openFor].
     *
     * @throws IllegalArgumentException if [time] is not above 0.
     * @throws TooManyKeysException if [key] is new and there is no place for it.
     */
    public fun openFor(key: K, time: Duration) {
        require(time.isPositive()) { "time = $time, must be above 0" }
        table.use(key) { it.openFor(time) }
    }

    /** Closes the breaker of [key], if there is one. The results of calls that have begun before do not count. */
    public fun reset(key: K) {
        val lease = table.leaseIfPresent(key) ?: return
        try {
            lease.value.reset()
        } finally {
            lease.end()
        }
    }

    /**
     * Lets all calls of [key] through until [reset] or [trip], and counts them: [BreakerState.DISABLED].
     *
     * @throws TooManyKeysException if [key] is new and there is no place for it.
     */
    public fun disable(key: K) {
        table.use(key) { it.disable() }
    }

    // The published functions are for the inlined body of protect alone.

    @PublishedApi @JvmSynthetic internal fun lease(key: K): Any = table.lease(key)

    @PublishedApi @JvmSynthetic internal fun breakerOf(lease: Any): CircuitBreaker = table.valueOf(lease)

    @PublishedApi
    @JvmSynthetic
    internal fun end(lease: Any) {
        (lease as KeyEntry<*>).end()
    }

    override fun toString(): String = "${table.label()} (size = $size, maxKeys = $maxKeys, keepIdle = $keepIdle)"
}
