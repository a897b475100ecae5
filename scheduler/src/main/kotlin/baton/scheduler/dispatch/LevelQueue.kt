package baton.scheduler.dispatch

import baton.scheduler.DispatcherMetrics
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds

/**
 * The blocks of one level of a run queue, first in, first out, and the counters of that level. Guarded by the lock of
 * the run queue.
 *
 * The blocks are in segments, so that no step copies a long queue under the lock, and none of the memory stays once the
 * queue is short again. A block that is removed leaves a gap.
 */
internal class LevelQueue {
    // The last place of a segment links to the next one.
    private var head = arrayOfNulls<Any>(LINK + 1)
    private var tail = head

    /** The place of the first block, or of a gap before it, in [head]. */
    private var first = 0

    /** The place after the last block in [tail]. */
    private var end = 0

    var size = 0
        private set

    private var picked = 0L
    private var outOfOrder = 0L
    private var waits = 0L
    private var waited = 0.0
    private var longestWait = 0L

    fun add(entry: Runnable) {
        if (end == LINK) {
            val next = arrayOfNulls<Any>(LINK + 1)
            tail[LINK] = next
            tail = next
            end = 0
        }
        tail[end++] = entry
        size++
    }

    /** There must be a block. */
    fun poll(): Runnable {
        while (true) {
            if (first == LINK) {
                val next = after(head)
                // Otherwise a segment that has grown old would keep all later ones from the young collection.
                head[LINK] = null
                head = next
                first = 0
            }
            val entry = head[first]
            head[first++] = null
            if (entry == null) continue
            size--
            return entry as Runnable
        }
    }

    fun remove(block: Runnable): Boolean =
        search({ blockOf(it) === block }) { segment, place ->
            segment[place] = null
            size--
        }

    fun blocks(): List<Runnable> {
        val found = ArrayList<Runnable>(size)
        any {
            found += blockOf(it)
            false
        }
        return found
    }

    /** Whether a block satisfies [predicate], which sees the blocks in their order up to the first that does. */
    fun any(predicate: (Runnable) -> Boolean): Boolean = search(predicate) { _, _ -> }

    private inline fun search(isSought: (Runnable) -> Boolean, found: (Array<Any?>, Int) -> Unit): Boolean {
        var segment = head
        var place = first
        while (segment !== tail || place < end) {
            if (place == LINK) {
                segment = after(segment)
                place = 0
                continue
            }
            val entry = segment[place] as Runnable?
            if (entry != null && isSought(entry)) {
                found(segment, place)
                return true
            }
            place++
        }
        return false
    }

    @Suppress("UNCHECKED_CAST") // nothing else is in the last place of a segment
    private fun after(segment: Array<Any?>) = segment[LINK] as Array<Any?>

    /** Counts the pick of [entry], and its wait if that is measured. Returns the block, which is about to run. */
    fun picked(entry: Runnable, isOutOfOrder: Boolean): Runnable {
        picked++
        if (isOutOfOrder) outOfOrder++
        if (entry !is Sampled) return entry
        val wait = System.nanoTime() - entry.enqueuedAt
        waits++
        waited += wait
        longestWait = maxOf(longestWait, wait)
        return entry.block
    }

    fun metrics(): DispatcherMetrics.OfLevel =
        DispatcherMetrics.OfLevel(
            size,
            picked,
            outOfTurn = outOfOrder,
            sampledWaits = waits,
            meanWait = if (waits == 0L) Duration.ZERO else (waited / waits).toLong().nanoseconds,
            longestWait = longestWait.nanoseconds,
        )

    /** A [block] whose wait is measured. */
    class Sampled(val block: Runnable) : Runnable by block {
        val enqueuedAt = System.nanoTime()
    }

    private companion object {
        const val LINK = 31

        fun blockOf(entry: Runnable): Runnable = if (entry is Sampled) entry.block else entry
    }
}
