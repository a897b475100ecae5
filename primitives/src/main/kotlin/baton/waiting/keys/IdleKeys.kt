package baton.waiting.keys

import baton.waiting.clock.BoundClock
import baton.waiting.keys.KeyEntry.Companion.UNQUEUED
import baton.waiting.keys.KeyEntry.Companion.leasesIn
import java.util.PriorityQueue
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock

/** When an object that is not in use may be forgotten. Its functions call no code of users. */
internal interface IdleRule<T : Any> {
    val clock: BoundClock

    /** Whether [nanosUntilIdle] depends on the time of the last use. */
    val needsLastUse: Boolean

    /** The time from [now] until [value] may be forgotten, if no call uses it meanwhile; 0 or less for now. */
    fun nanosUntilIdle(value: T, now: Long, lastUse: Long): Long
}

/**
 * The entries of a [KeyTable] that linger when they are not in use, ordered by a time before which they are not idle.
 * 1. Each entry is in the queue or has the mark UNQUEUED. A visit takes it out of the queue, and forgets it, or
 *    enqueues it with a later time. An entry that is in use then gets the mark: the end of its last lease enqueues it.
 * 2. So an entry costs one visit for each such time, no timer, and nothing while it is in use; and if the head of the
 *    queue is not due, no entry is idle.
 * 3. Calls visit a few due entries each, if no other thread does. A call that needs a place visits all due entries
 *    until one is forgotten.
 */
internal class IdleKeys<T : Any>(val rule: IdleRule<T>, private val forget: (KeyEntry<T>, Long) -> Boolean) {
    /** Guards the queue and [KeyEntry.idleFrom]. The locks of cores are taken under it, one at a time. */
    private val lock = ReentrantLock()
    private val queue = PriorityQueue<KeyEntry<T>>(compareBy { it.idleFrom })

    /** [KeyEntry.idleFrom] of the head. Written under the lock; callers read it without. */
    @Volatile private var nextVisit = Long.MAX_VALUE

    /** [entry], which is not in use, has just lost the mark UNQUEUED. */
    fun add(entry: KeyEntry<T>) {
        val now = rule.clock.readOr(0)
        lock.withLock { enqueue(entry, idleFrom(entry, now)) }
    }

    private fun idleFrom(entry: KeyEntry<T>, now: Long): Long {
        val nanos =
            try {
                rule.nanosUntilIdle(entry.value, now, entry.stamp)
            } catch (_: Throwable) {
                LATER_NANOS // Stack or memory is exhausted. The entry must be queued, or it would never be forgotten.
            }
        val from = now + nanos.coerceAtLeast(0)
        return if (from >= 0) from else Long.MAX_VALUE
    }

    private fun enqueue(entry: KeyEntry<T>, idleFrom: Long) {
        entry.idleFrom = idleFrom
        queue.add(entry)
        nextVisit = queue.element().idleFrom
    }

    /** Visits some due entries, unless another thread has the lock. */
    fun visitSome(now: Long) {
        if (now < nextVisit || !lock.tryLock()) return
        try {
            repeat(VISITS) { if (visitHead(now) == null) return }
        } finally {
            lock.unlock()
        }
    }

    /** Forgets an idle entry; false if there is none. */
    fun forgetOne(now: Long): Boolean {
        lock.withLock {
            while (true) {
                val isForgotten = visitHead(now) ?: return false
                if (isForgotten) return true
            }
        }
    }

    /** Whether the head was forgotten; null if it is not due. */
    private fun visitHead(now: Long): Boolean? {
        val entry = queue.peek()
        if (entry == null || entry.idleFrom > now) return null
        queue.remove()
        nextVisit = queue.peek()?.idleFrom ?: Long.MAX_VALUE
        while (true) {
            val seen = entry.word
            if (leasesIn(seen) > 0) {
                if (entry.compareAndSet(seen, seen or UNQUEUED)) return false
            } else {
                val idleFrom = idleFrom(entry, now)
                if (idleFrom > now) return false.also { enqueue(entry, idleFrom) }
                if (forget(entry, seen)) return true
            }
        }
    }

    private companion object {
        /** So many visits for each sixteen uses, and for each new key. */
        const val VISITS = 32

        /** When to look again at an entry whose rule has thrown. */
        const val LATER_NANOS = 1_000_000L
    }
}
