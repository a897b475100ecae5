package baton.waiting.keys

import baton.InternalBatonApi
import baton.TooManyKeysException
import baton.waiting.keys.KeyEntry.Companion.FORGOTTEN
import baton.waiting.keys.KeyEntry.Companion.UNQUEUED
import baton.waiting.keys.KeyEntry.Companion.USE
import baton.waiting.keys.KeyEntry.Companion.leasesIn
import baton.waiting.labelOf
import baton.waiting.threads.Trampoline
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicLong

/*
 * How it works
 *
 *   lease(key) ──▶ LEASED n ──── the last lease ends ────▶ UNUSED ──── it is idle, and no lease came ────▶ FORGOTTEN
 *                     ▲                                      │
 *                     └──────────── lease(key) ──────────────┘
 *
 * (1) A caller uses an object only while it has a lease of the entry: one compare-and-set of the entry's word. The word
 *     also counts the uses, modulo 2^30.
 * (2) An entry is forgotten by one compare-and-set of its word, from one without leases, for good. The look at the
 *     object comes between the reading of the word and that step, which fails if any use came meanwhile. So no caller
 *     is about to use the object, and what it knew is what a new one knows.
 * (3) A key has a new entry only after its former one was forgotten or detached. So, unless it was detached, two objects
 *     of a key are never in use together.
 * (4) `places` counts the entries of the map, or more: a place is taken within the step that adds an entry, and given
 *     back after the entry has left. So the map never has more than maxKeys.
 *
 * Without an [IdleKeys], an object that has no lease is idle: the thread that ends the last lease forgets the entry, in
 * the same step. Else the entry lingers, and [IdleKeys] says who looks at it when.
 *
 * The map calls `equals` and `hashCode` of keys, under a lock of its own. No other code of users runs there.
 */
@InternalBatonApi
public class KeyTable<K : Any, T : Any>
internal constructor(
    private val kind: String,
    internal val name: String?,
    private val maxKeys: Int,
    private val rule: IdleRule<T>?,
    internal val make: (KeyEntry<T>) -> T,
) {
    private val entries = ConcurrentHashMap<K, KeyEntry<T>>()
    private val places = AtomicInteger()
    private val stamps = AtomicLong()
    private val idle: IdleKeys<T>?

    init {
        require(maxKeys >= 1) { "maxKeys = $maxKeys, must be at least 1" }
        idle = rule?.let { IdleKeys(it, ::forget) }
    }

    internal val size: Int
        get() = entries.size

    /** The objects there are; others may come and go meanwhile. */
    internal val values: Sequence<T>
        get() = entries.values.asSequence().map { it.value }

    /** The object of [key] if there is one, to be looked at, not used. */
    internal fun peek(key: K): T? = entries[key]?.value

    /**
     * The entry of [key], which is new if there is none. The caller may use its object until [KeyEntry.end].
     *
     * @throws TooManyKeysException if there is no place for a new one.
     */
    public fun lease(key: K): KeyEntry<T> {
        while (true) {
            val entry = entries[key] ?: return add(key) ?: continue
            if (entry.tryLease()) return entry
            entries.remove(key, entry)
        }
    }

    internal inline fun <R> use(key: K, action: (T) -> R): R {
        val entry = lease(key)
        try {
            return action(entry.value)
        } finally {
            entry.end()
        }
    }

    /**
     * Leases those of all [keys], each once, in the order in which they were made: while any of them is leased, all
     * callers see the same order.
     */
    public fun leaseAll(keys: Collection<K>): List<KeyEntry<T>> {
        val leases = ArrayList<KeyEntry<T>>(keys.size)
        try {
            for (key in LinkedHashSet(keys)) leases.add(lease(key))
        } catch (e: Throwable) {
            for (lease in leases) lease.end()
            throw e
        }
        leases.sortBy { it.stamp }
        return leases
    }

    /** Leases the object of [key] and runs [acquire] with it; the lease ends at once if that throws. */
    internal inline fun leaseFor(key: K, acquire: (T) -> Unit): KeyEntry<T> {
        val entry = lease(key)
        try {
            acquire(entry.value)
        } catch (e: Throwable) {
            entry.end()
            throw e
        }
        return entry
    }

    /** The object of a [lease], for inlined code, whose types users see. */
    @Suppress("UNCHECKED_CAST") internal fun valueOf(lease: Any): T = (lease as KeyEntry<T>).value

    /** As [lease], but null if there is none. */
    internal fun leaseIfPresent(key: K): KeyEntry<T>? = entries[key]?.takeIf { it.tryLease() }

    /** Null if another thread has added one meanwhile. */
    private fun add(key: K): KeyEntry<T>? {
        val now = rule?.clock?.read() ?: 0
        idle?.visitSome(now)
        val added = KeyEntry(this, key)
        added.stamp = if (idle == null) stamps.getAndIncrement() else now
        while (true) {
            var isFull = false
            val entry =
                entries.compute(key) { _, other ->
                    isFull = other == null && !tryTakePlace()
                    other ?: added.takeUnless { isFull }
                }
            if (entry === added) return added
            if (!isFull) return null
            if (idle == null || !idle.forgetOne(now)) throw tooMany()
        }
    }

    private fun tryTakePlace(): Boolean {
        while (true) {
            val taken = places.get()
            if (taken >= maxKeys) return false
            if (places.compareAndSet(taken, taken + 1)) return true
        }
    }

    private fun tooMany() = TooManyKeysException("no place for another key, maxKeys = $maxKeys are in use: ${label()}")

    internal fun end(entry: KeyEntry<T>): Boolean {
        if (idle == null) return endForGood(entry)
        endForNow(entry, idle)
        return false
    }

    private fun endForGood(entry: KeyEntry<T>): Boolean {
        while (true) {
            val seen = entry.word
            val isLast = leasesIn(seen) == 1L
            if (!entry.compareAndSet(seen, if (isLast) FORGOTTEN else seen - 1)) continue
            if (isLast) remove(entry)
            return isLast
        }
    }

    /**
     * The next caller of the key gets a new entry, beside [entry], which stays with the callers that have leased it.
     */
    internal fun detach(entry: KeyEntry<T>) {
        Trampoline.guarded { entries.remove(entry.key, entry) }
    }

    /** As the other, of the entry of [key], if there is one. */
    internal fun detach(key: K) {
        entries.remove(key)
    }

    private fun endForNow(entry: KeyEntry<T>, idle: IdleKeys<T>) {
        val clock = idle.rule.clock
        if (idle.rule.needsLastUse) entry.stamp = clock.readOr(entry.stamp)
        while (true) {
            val seen = entry.word
            val isToQueue = leasesIn(seen) == 1L && seen and UNQUEUED != 0L
            if (!entry.compareAndSet(seen, (if (isToQueue) seen xor UNQUEUED else seen) - 1)) continue
            if (isToQueue) idle.add(entry)
            if (seen and VISIT_MASK == VISIT_MASK) idle.visitSome(clock.readOr(Long.MIN_VALUE))
            return
        }
    }

    /** For [IdleKeys]: forgets [entry] if its word is still the one that was [seen], without leases. */
    private fun forget(entry: KeyEntry<T>, seen: Long): Boolean {
        if (!entry.compareAndSet(seen, FORGOTTEN)) return false
        remove(entry)
        return true
    }

    /**
     * If a key's `equals` throws, the entry stays until the next call of its key. The caller need not know that key.
     */
    private fun remove(entry: KeyEntry<T>) {
        Trampoline.guarded { entries.remove(entry.key, entry) }
        places.decrementAndGet()
    }

    internal fun nameOfKey(key: String) = if (name == null) key else "$name[$key]"

    internal fun label() = labelOf(kind, name)

    override fun toString(): String = "${label()} (size = $size, maxKeys = $maxKeys)"

    internal companion object {
        /** The default of [maxKeys], here for all. */
        const val DEFAULT_MAX_KEYS = 100_000

        /** One in sixteen uses of an entry looks for idle ones. */
        private const val VISIT_MASK = 15 * USE
    }
}
