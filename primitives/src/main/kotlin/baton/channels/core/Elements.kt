package baton.channels.core

import baton.waiting.BoundedBypass

/** Buffered elements in the order in which they are received. Guarded by the channel's lock. No element is null. */
internal abstract class Elements {
    var size: Int = 0
        protected set

    abstract fun add(element: Any, level: Int)

    /** Removes the next element to be received. There must be one. */
    abstract fun removeFirst(): Any

    /** Removes the element that makes room for a new one. There must be one. */
    abstract fun removeOldest(): Any
}

/**
 * First in, first out: a linked list of array segments, so that every operation is O(1), and received elements leave no
 * references and no memory behind, except for one or two segments.
 */
internal class FifoElements : Elements() {
    private class Segment(val elements: Array<Any?>) {
        var next: Segment? = null
    }

    private var first = NO_SEGMENT
    private var last = NO_SEGMENT
    private var spare: Segment? = null
    private var begin = 0
    private var end = 0

    override fun add(element: Any, level: Int) {
        if (end == last.elements.size) grow()
        last.elements[end++] = element
        size++
    }

    private fun grow() {
        val segment = spare ?: Segment(arrayOfNulls(SEGMENT_SIZE))
        spare = null
        if (last === NO_SEGMENT) first = segment else last.next = segment
        last = segment
        end = 0
    }

    override fun removeFirst(): Any {
        val segment = first
        val element = checkNotNull(segment.elements[begin])
        segment.elements[begin++] = null
        size--
        if (size == 0) {
            begin = 0
            end = 0
        } else if (begin == SEGMENT_SIZE) {
            first = checkNotNull(segment.next)
            begin = 0
            segment.next = null
            spare = segment
        }
        return element
    }

    override fun removeOldest(): Any = removeFirst()

    private companion object {
        const val SEGMENT_SIZE = 32

        /** The segment before the first element, and of channels that never buffer one. */
        val NO_SEGMENT = Segment(arrayOfNulls(0))
    }
}

/** Among the levels in the order of [BoundedBypass], and first in, first out within a level. */
internal class PriorityElements : Elements() {
    private val levels = Array(BoundedBypass.LEVELS) { FifoElements() }
    private val bypass = BoundedBypass()

    override fun add(element: Any, level: Int) {
        levels[level].add(element, level)
        size++
    }

    override fun removeFirst(): Any {
        val level = bypass.next(::isEmpty)
        val element = removeFrom(level)
        bypass.served(level, ::isEmpty)
        return element
    }

    override fun removeOldest(): Any {
        val level = levels.indexOfLast { it.size > 0 }
        val element = removeFrom(level)
        if (isEmpty(level)) bypass.forget(level)
        return element
    }

    private fun removeFrom(level: Int): Any {
        size--
        return levels[level].removeFirst()
    }

    private fun isEmpty(level: Int) = levels[level].size == 0
}

/** Elements that receivers returned, in the order in which they were handed out. Guarded by the channel's lock. */
internal class UndeliveredElements {
    private class Returned(val element: Any, val number: Int)

    // Numbers may wrap around; fewer than half of all numbers are handed out at one time, so the difference orders
    // them.
    private val heap = java.util.PriorityQueue<Returned> { one, other -> one.number - other.number }

    val size: Int
        get() = heap.size

    fun add(element: Any, number: Int) {
        heap.add(Returned(element, number))
    }

    /** The number of the next element. There must be one. */
    fun firstNumber(): Int = heap.peek().number

    fun removeFirst(): Any = heap.remove().element
}
