package baton.resilience

import baton.resilience.breaker.BreakerUse
import baton.waiting.clock.BoundClock
import baton.waiting.threads.Trampoline
import java.util.PriorityQueue
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours

/**
 * A [CircuitBreaker] for each key: for each host, say, so that one that is down does not close the way to the others.
 *
 * ```
 * val perHost = CircuitBreakers<String>(keepIdle = 10.minutes)
 * val page = perHost[url.host].protect { fetch(url) }
 * ```
 *
 * The look-up of a key makes its breaker if there is none. All have the same [config], and the text of their key as
 * name.
 *
 * *Forgetting.* A breaker that is [BreakerState.CLOSED], and was not used for [keepIdle] or longer, is forgotten; the
 * next look-up of its key makes a new one. Look-ups, calls, [CircuitBreaker.trip], `reset` and `disable` are uses.
 * There is no timer: look-ups of other keys find an idle breaker, within 200 look-ups. A breaker is never replaced
 * while a call is inside. A caller that has kept a forgotten breaker and uses it again puts it back in its place,
 * unless its key has another one by then.
 *
 * A breaker in another state is kept, however long it is unused: it holds the knowledge that a service fails. So the
 * breaker of a host that is gone for good stays [BreakerState.OPEN], and a registry whose keys have no bound, such as
 * the hosts that a crawler finds, grows by these. [CircuitBreaker.reset] closes one; it is forgotten after [keepIdle].
 *
 * *Waiting.* Never; a look-up may hold a lock for a short time while it forgets. *Order.* None. *Memory.* A look-up
 * that gets a breaker comes after the one that made it. All members may be called from any thread.
 *
 * *Misuse.* Zero or less for [keepIdle] throws [IllegalArgumentException]. Keys must not change their `equals` and
 * `hashCode`. A breaker of a registry reads the clock at the end of each call.
 *
 * @property config of every breaker; its clock is also that of [keepIdle].
 * @property keepIdle how long an unused breaker is kept, above zero.
 */
public class CircuitBreakers<K : Any>(
    public val config: CircuitBreakerConfig = DEFAULT_BREAKER_CONFIG,
    public val keepIdle: Duration = 1.hours,
) {
    /*
     * Each entry counts its uses. An entry is forgotten in one compare-and-set, from "no caller inside, and no use since
     * it was found idle", within a step of the map, so that the key has no breaker from then on.
     *
     * `idle` holds the entries by a lower bound of their last use. A look-up takes from its head only entries whose bound
     * is older than keepIdle, a hundredth of all at most: each leaves for good, or gets a newer bound. So an entry costs
     * one visit for each keepIdle, and the look-ups find idle entries in time even if all have become idle at once.
     */
    private val keepNanos: Long
    private val clock = BoundClock(config.clock)
    private val entries = ConcurrentHashMap<K, Entry>()

    /** Guarded by itself, as [Entry.bound] and [Entry.isQueued] are. */
    private val idle = PriorityQueue<Entry>(compareBy { it.bound })

    /** How many old entries a look-up visits; it does not shrink before none is left. Guarded by [idle]. */
    private var visits = 0

    /** When the head of [idle] may be idle. Written under its lock; a look-up reads it without. */
    @Volatile private var nextVisit = Long.MAX_VALUE

    init {
        require(keepIdle.isPositive()) { "keepIdle = $keepIdle, must be above 0" }
        keepNanos = keepIdle.inWholeNanoseconds
    }

    /** How many breakers there are, those included that are idle and not found yet. */
    public val size: Int
        get() = entries.size

    /** The breaker of [key], which is new and closed if there is none. Counts as its use. */
    public operator fun get(key: K): CircuitBreaker {
        val now = read()
        forgetIdle(now)
        while (true) {
            val entry = entries[key] ?: add(key, now)
            if (!entry.forgetIfIdle(now) && entry.touch(now)) return entry.breaker
        }
    }

    private fun read() = clock.read()

    private fun add(key: K, now: Long): Entry {
        val added = Entry(key, now)
        entries.putIfAbsent(key, added)?.let {
            return it
        }
        enqueue(added)
        return added
    }

    private fun enqueue(entry: Entry) {
        synchronized(idle) {
            if (entry.isQueued) return
            entry.isQueued = true
            entry.bound = entry.lastUse
            idle.add(entry)
            setNextVisit()
        }
    }

    private fun forgetIdle(now: Long) {
        if (now < nextVisit) return
        val visited = takeOld(now)
        try {
            for (entry in visited) entry.forgetIfIdle(now)
        } finally {
            // Also if a key's `equals` has thrown: an entry that stays out of [idle] would never be forgotten.
            requeue(visited, now)
        }
    }

    private fun requeue(visited: List<Entry>, now: Long) {
        synchronized(idle) {
            for (entry in visited) {
                entry.isQueued = !entry.isForgotten
                if (!entry.isQueued) continue
                // An old entry that is kept is not closed, or in use: another use must come before it can be forgotten.
                val lastUse = entry.lastUse
                entry.bound = if (isOld(lastUse, now)) now else lastUse
                idle.add(entry)
            }
            setNextVisit()
        }
    }

    /**
     * Takes the entries that this look-up visits out of [idle]. The visits need no lock: a key's `equals` is code of
     * users.
     */
    private fun takeOld(now: Long): List<Entry> =
        synchronized(idle) {
            visits = maxOf(visits, 1 + idle.size / LOOK_UPS)
            val taken = ArrayList<Entry>()
            while (taken.size < visits) {
                val entry = idle.peek()
                if (entry == null || !isOld(entry.bound, now)) {
                    visits = 0
                    break
                }
                taken.add(idle.remove())
            }
            setNextVisit()
            taken
        }

    private fun setNextVisit() {
        val at = idle.peek()?.let { it.bound + keepNanos } ?: Long.MAX_VALUE
        nextVisit = if (at >= 0) at else Long.MAX_VALUE
    }

    private fun isOld(use: Long, now: Long) = now - use >= keepNanos

    override fun toString(): String = "CircuitBreakers (size = $size, keepIdle = $keepIdle)"

    private inner class Entry(private val key: K, now: Long) : BreakerUse {
        /**
         * Bits 0 to 31 count the callers inside, and bits 32 to 62 all uses, modulo 2^31. The sign bit is set while the
         * entry is forgotten: then no caller is inside. Or it is [REPLACED], for good.
         *
         * The count of uses goes on when the entry is put back. So the compare-and-set of a thread that has found the
         * entry idle fails if any use came meanwhile, up to 2^31 of them.
         */
        private val uses = AtomicLong()

        val breaker = CircuitBreaker(config, key.toString(), this)

        @Volatile
        var lastUse = now
            private set

        var bound = 0L

        /** Whether it is in [idle], or taken out for a visit. */
        var isQueued = false

        val isForgotten: Boolean
            get() = uses.get() < 0

        /** Counts a look-up; false if it is forgotten. */
        fun touch(now: Long): Boolean {
            lastUse = now
            while (true) {
                val count = uses.get()
                if (count < 0) return false
                if (uses.compareAndSet(count, (count + USE) and Long.MAX_VALUE)) return true
            }
        }

        override val clock: BoundClock
            get() = this@CircuitBreakers.clock

        override val ownerLabel: String
            get() = this@CircuitBreakers.toString()

        override val isAwaited: Boolean
            get() = entries.values.any { it.breaker.waiting > 0 }

        override fun begin() {
            while (true) {
                val count = uses.get()
                when {
                    count >= 0 -> if (uses.compareAndSet(count, ((count + USE) and Long.MAX_VALUE) + 1)) return
                    count == REPLACED -> return
                    else -> putBack()
                }
            }
        }

        override fun end() {
            if (uses.get() == REPLACED) return
            try {
                lastUse = read()
            } catch (e: Throwable) { // of the clock, which stands still then: the call has its result
                Trampoline.report(e)
            } finally {
                uses.decrementAndGet()
            }
        }

        private fun putBack() {
            val now = read() // Not in there: the map is locked, and the clock is code of users.
            entries.compute(key) { _, other ->
                // Another caller may have put it back, or found it replaced, meanwhile.
                val count = uses.get()
                if (count >= 0 || count == REPLACED) return@compute other
                if (other == null) {
                    lastUse = now
                    uses.set((count + USE) and Long.MAX_VALUE)
                } else if (other !== this) {
                    uses.set(REPLACED)
                }
                other ?: this
            }
            if (!isForgotten) enqueue(this)
        }

        /** Returns whether it is forgotten, now or before. */
        fun forgetIfIdle(now: Long): Boolean {
            val count = uses.get()
            if (count < 0) return true
            if (count.toInt() != 0 || !isOld(lastUse, now) || breaker.state != BreakerState.CLOSED) return false
            entries.computeIfPresent(key) { _, entry ->
                if (entry === this && uses.compareAndSet(count, count or FORGOTTEN)) null else entry
            }
            return isForgotten
        }
    }

    private companion object {
        /** So many look-ups visit all entries; the documentation says twice as many. */
        const val LOOK_UPS = 100
        const val USE = 1L shl Int.SIZE_BITS
        const val FORGOTTEN = Long.MIN_VALUE
        const val REPLACED = -1L
    }
}
