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
 * A [Mutex] for each key: callers of one key exclude each other, callers of different keys do not.
 *
 * ```
 * val locks = Mutexes<AccountId>()
 * locks.withLock(id) { deposit(it, amount) } // `it`: the key
 * locks.withLocks(from, to) { transfer(from, to, amount) }
 * ```
 *
 * Messages and deadlock reports name the mutex of a key by the text of the key, with a [name] as in `accounts[42]`.
 *
 * *Several keys.* [withLocks] locks them in the order in which their mutexes were made, the same for all callers, so
 * calls of it do not deadlock, whatever the order of their arguments. A `withLock` inside another one, or inside
 * `withLocks`, may deadlock.
 *
 * *Forgetting.* A mutex is there as long as a caller holds or awaits it. The last of them forgets it, so an idle key
 * takes no memory.
 *
 * *Bound.* There are never more than [maxKeys] keys in use, of about 250 bytes each and the key. A call of a further
 * one gets a [TooManyKeysException], and its action is not run.
 *
 * *Waiting, order, cancellation, memory.* As [Mutex], for each key by itself.
 *
 * *Misuse.* It is not reentrant: a `withLock` of a key inside another one of the same key waits for itself. Keys must
 * not change their `equals` and `hashCode`, which are called under a lock.
 *
 * All members may be called from any thread.
 *
 * @property maxKeys the most keys in use, at least 1.
 * @property name shown by messages and [toString].
 * @throws IllegalArgumentException if [maxKeys] is below 1.
 */
public class Mutexes<K : Any>(public val maxKeys: Int = KeyTable.DEFAULT_MAX_KEYS, public val name: String? = null) {
    @get:JvmSynthetic
    internal val table: KeyTable<K, Mutex> = KeyTable("Mutexes", name, maxKeys, rule = null) { Mutex().named(it) }

    init {
        table.listIfNamed { it.core }
    }

    /** How many keys are in use. */
    public val size: Int
        get() = table.size

    /**
     * Runs [action] while holding the mutex of [key], and unlocks it however [action] ends.
     *
     * *Cancellation.* A caller that is cancelled while it waits throws and does not hold the mutex.
     *
     * @throws TooManyKeysException if [key] is not in use and there is no place for it; [action] has not run.
     */
    @OptIn(ExperimentalContracts::class)
    public suspend inline fun <T> withLock(key: K, action: (K) -> T): T {
        contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
        val held = lock(key)
        try {
            return action(key)
        } finally {
            unlock(held)
        }
    }

    /**
     * As the other, but waits [timeout] at most for the mutex; at zero or less it does not wait.
     *
     * @throws PermitTimeoutException if the mutex was not handed over in time; [action] has not run.
     */
    @OptIn(ExperimentalContracts::class)
    public suspend inline fun <T> withLock(key: K, timeout: Duration, action: (K) -> T): T {
        contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
        val held = lock(key, timeout)
        try {
            return action(key)
        } finally {
            unlock(held)
        }
    }

    /** As the other, with the [keys] as a collection. */
    @OptIn(ExperimentalContracts::class)
    public suspend inline fun <T> withLocks(keys: Collection<K>, action: () -> T): T {
        contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
        val held = lockAll(keys)
        try {
            return action()
        } finally {
            unlockAll(held)
        }
    }

    /**
     * Runs [action] while holding the mutexes of all [keys], one of which may be named twice, and unlocks them however
     * [action] ends.
     *
     * *Cancellation.* A caller that is cancelled while it waits throws and holds none of them.
     *
     * @throws TooManyKeysException if there is no place for one of them; [action] has not run.
     */
    @OptIn(ExperimentalContracts::class)
    public suspend inline fun <T> withLocks(vararg keys: K, action: () -> T): T {
        contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
        return withLocks(keys.asList(), action)
    }

    // The published functions are for the inlined bodies alone. They return and take the lease of the key.

    @PublishedApi @JvmSynthetic internal suspend fun lock(key: K): Any = table.leaseFor(key) { it.lock() }

    @PublishedApi
    @JvmSynthetic
    internal suspend fun lock(key: K, timeout: Duration): Any =
        table.leaseFor(key) { it.lockWithin(timeout, owner = null) }

    @PublishedApi
    @JvmSynthetic
    internal fun unlock(held: Any) {
        table.valueOf(held).unlock()
        (held as KeyEntry<*>).end()
    }

    @PublishedApi
    @JvmSynthetic
    internal suspend fun lockAll(keys: Collection<K>): List<Any> {
        val leases = table.leaseAll(keys)
        var locked = 0
        try {
            for (lease in leases) {
                lease.value.lock()
                locked++
            }
        } catch (e: Throwable) {
            leases.forEachIndexed { i, lease -> if (i < locked) unlock(lease) else lease.end() }
            throw e
        }
        return leases
    }

    @PublishedApi
    @JvmSynthetic
    internal fun unlockAll(held: List<Any>) {
        for (i in held.indices.reversed()) unlock(held[i])
    }

    override fun toString(): String = "${table.label()} (size = $size, maxKeys = $maxKeys)"
}
