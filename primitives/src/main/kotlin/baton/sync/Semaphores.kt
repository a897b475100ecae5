package baton.sync

import baton.PermitTimeoutException
import baton.TooManyKeysException
import baton.monitoring.core.listIfNamed
import baton.waiting.keys.KeyEntry
import baton.waiting.keys.KeyTable
import kotlin.contracts.ExperimentalContracts
import kotlin.contracts.InvocationKind
import kotlin.contracts.contract
import kotlin.time.Duration

/**
 * A [Semaphore] for each key: a bound for each host, tenant or account by itself.
 *
 * ```
 * val perHost = Semaphores<String>(permits = 4)
 * val page = perHost.withPermit(url.host) { fetch(url) }
 * ```
 *
 * Each key has as many [permits]. Messages name its semaphore by the text of the key, with a [name] as in
 * `hosts[example.org]`.
 *
 * *Forgetting.* A semaphore is there as long as a caller holds or awaits one of its permits. The last of them forgets
 * it, so an idle key takes no memory.
 *
 * *Bound.* There are never more than [maxKeys] keys in use, of about 250 bytes each and the key. A call of a further
 * one gets a [TooManyKeysException], and its action is not run.
 *
 * *Waiting, order, cancellation, memory.* As [Semaphore], for each key by itself.
 *
 * *Misuse.* Keys must not change their `equals` and `hashCode`, which are called under a lock. A request for fewer than
 * 1 permit, or for more than [permits], throws [IllegalArgumentException].
 *
 * All members may be called from any thread.
 *
 * @property permits of each key, at least 1.
 * @property order the order in which the waiters of a key are admitted.
 * @property maxKeys the most keys in use, at least 1.
 * @property name shown by messages and [toString].
 * @throws IllegalArgumentException if a number is out of bounds.
 */
public class Semaphores<K : Any>(
    public val permits: Int,
    public val order: WaitOrder = WaitOrder.FIFO,
    public val maxKeys: Int = KeyTable.DEFAULT_MAX_KEYS,
    public val name: String? = null,
) {
    @get:JvmSynthetic
    internal val table: KeyTable<K, Semaphore> =
        KeyTable("Semaphores", name, maxKeys, rule = null) { Semaphore(permits, order = order).named(it) }

    init {
        require(permits >= 1) { "permits = $permits, must be at least 1" }
        table.listIfNamed { it.core }
    }

    /** How many keys are in use. */
    public val size: Int
        get() = table.size

    /**
     * Runs [action] while holding a permit of [key], and releases it however [action] ends.
     *
     * *Cancellation.* A caller that is cancelled while it waits throws and holds nothing.
     *
     * @throws TooManyKeysException if [key] is not in use and there is no place for it; [action] has not run.
     */
    @OptIn(ExperimentalContracts::class)
    public suspend inline fun <T> withPermit(key: K, action: (K) -> T): T {
        contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
        return withPermits(key, 1, action)
    }

    /**
     * As the other, but waits [timeout] at most for the permit; at zero or less it does not wait.
     *
     * @throws PermitTimeoutException if the permit was not granted in time; [action] has not run.
     */
    @OptIn(ExperimentalContracts::class)
    public suspend inline fun <T> withPermit(key: K, timeout: Duration, action: (K) -> T): T {
        contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
        val held = acquire(key, timeout)
        try {
            return action(key)
        } finally {
            release(held, 1)
        }
    }

    /**
     * As [withPermit], with [permits] of [key], which are granted in one step.
     *
     * @throws IllegalArgumentException if [permits] is below 1 or above those of each key.
     */
    @OptIn(ExperimentalContracts::class)
    public suspend inline fun <T> withPermits(key: K, permits: Int, action: (K) -> T): T {
        contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
        val held = acquire(key, permits)
        try {
            return action(key)
        } finally {
            release(held, permits)
        }
    }

    // The published functions are for the inlined bodies alone. They return and take the lease of the key.

    @PublishedApi
    @JvmSynthetic
    internal suspend fun acquire(key: K, permits: Int): Any = table.leaseFor(key) { it.acquire(permits) }

    @PublishedApi
    @JvmSynthetic
    internal suspend fun acquire(key: K, timeout: Duration): Any = table.leaseFor(key) { it.acquireWithin(1, timeout) }

    @PublishedApi
    @JvmSynthetic
    internal fun release(held: Any, permits: Int) {
        table.valueOf(held).release(permits)
        (held as KeyEntry<*>).end()
    }

    override fun toString(): String = "${table.label()} (permits = $permits, size = $size, maxKeys = $maxKeys)"
}
