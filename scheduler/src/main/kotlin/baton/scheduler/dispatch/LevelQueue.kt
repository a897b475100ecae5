package baton.scheduler.dispatch

import baton.scheduler.DispatcherMetrics
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds

/**
 * The blocks of one level of a run queue, first in, first out, and the counters of that level. Guarded by the lock of
 * the run queue.
 *
 * The blocks are in a list of segments, so that no addition copies a long queue under the lock. A block that is removed
 * leaves a gap. A segment leaves the list when it has no block left, so the list is never longer than the blocks need.
 * A thread that looks at all blocks does so part by part, and need not hold the lock in between.
 */
internal class LevelQueue {
    private var head = Segment()
    private var tail = head

    /** The place of the first block, or of a gap before it, in [head]. */
    private var first = 0

    /** The place after the last block, or after a gap behind it, in [tail]. */
    private var end = 0

    var size = 0
        private set

    private var picked = 0L
    private var outOfOrder = 0L
    private var waits = 0L
    private var waited = 0.0
    private var longestWait = 0L

    fun add(entry: Runnable) {
        if (end == Segment.LENGTH) addSegment()
        tail.places[end++] = entry
        size++
    }

    private fun addSegment() {
        val segment = Segment(tail)
        tail.next = segment
        tail = segment
        end = 0
    }

    /** There must be a block. */
    fun poll(): Runnable {
        while (true) {
            if (first == Segment.LENGTH) unlink(head)
            val places = head.places
            val entry = places[first]
            places[first++] = null
            if (entry == null) continue
            size--
            return entry
        }
    }

    /** Takes out [block], which was added shortly before, as a rule: the search begins at the end. */
    fun remove(block: Runnable): Boolean {
        var segment: Segment? = tail
        while (segment != null) {
            if (remove(block, segment)) return true
            segment = segment.previous
        }
        return false
    }

    /** Takes out [block], which was in [segment]. */
    fun remove(block: Runnable, segment: Segment): Boolean {
        val place = segment.places.indexOfLast { it != null && blockOf(it) === block }
        if (place < 0) return false
        segment.places[place] = null
        size--
        if (segment.places.all { it == null }) clear(segment)
        return true
    }

    /** The last block of [segment] was removed. */
    private fun clear(segment: Segment) {
        if (segment !== tail) return unlink(segment)
        end = 0
        if (segment === head) first = 0
    }

    /** Takes [segment], which is not the [tail], out of the list. */
    private fun unlink(segment: Segment) {
        val next = checkNotNull(segment.next)
        val previous = segment.previous
        next.previous = previous
        if (previous == null) {
            head = next
            first = 0
        } else {
            previous.next = next
        }
        // Otherwise a segment that has grown old would keep all later ones from the young collection.
        segment.next = null
        segment.previous = null
    }

    /** The first part of this queue. With [partAfter] the caller sees all blocks that are queued now and stay. */
    fun firstPart(): Part = partOf(head, last = tail.number)

    /** The part after [part], or null after the last of those that there were when the first one was asked for. */
    fun partAfter(part: Part): Part? {
        var segment = part.next
        // It has left the list, as have all before it or, if another thread removes blocks, perhaps only this one.
        if (segment != null && !isInList(segment)) segment = firstSegmentFrom(segment.number)
        return if (segment == null || segment.number - part.last > 0) null else partOf(segment, part.last)
    }

    private fun partOf(segment: Segment, last: Int) =
        Part(segment, segment.places.mapNotNull { it?.let(::blockOf) }, segment.next, last)

    private fun isInList(segment: Segment) = segment === head || segment.previous != null

    private fun firstSegmentFrom(number: Int): Segment? {
        var segment: Segment? = head
        while (segment != null && segment.number - number < 0) segment = segment.next
        return segment
    }

    /** Whether a block satisfies [predicate], which sees the blocks in their order up to the first that does. */
    fun any(predicate: (Runnable) -> Boolean): Boolean {
        var segment: Segment? = head
        while (segment != null) {
            if (segment.places.any { it != null && predicate(it) }) return true
            segment = segment.next
        }
        return false
    }

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

    /** Some places of a queue, and its neighbours in the list. */
    class Segment(var previous: Segment? = null) {
        val places = arrayOfNulls<Runnable>(LENGTH)
        var next: Segment? = null

        /** Larger by one than that of the segment before it when this one was added. It wraps around. */
        val number: Int = previous?.let { it.number + 1 } ?: 0

        companion object {
            const val LENGTH = 24
        }
    }

    /** The [blocks] that were in [segment] at some moment, in their order. */
    class Part(val segment: Segment, val blocks: List<Runnable>, val next: Segment?, val last: Int)

    private companion object {
        fun blockOf(entry: Runnable): Runnable = if (entry is Sampled) entry.block else entry
    }
}
