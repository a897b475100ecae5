package baton.channels

import baton.waiting.BoundedBypass

/** What a channel holds, in the order in which it is received. Guarded by the channel's lock. No element is null. */
internal abstract class Elements {
    var size: Int = 0
        protected set

    abstract fun add(element: Any, level: Int)

    /** The next to be received. There must be one. */
    abstract fun removeFirst(): Any

    /** The one that makes room for others. There must be one. */
    abstract fun removeOldest(): Any
}

/**
 * First in, first out: an array list cut into pieces, so that no operation takes long and what has been received leaves
 * nothing behind, neither itself nor the room it took, but for one or two pieces.
 */
internal class FifoElements : Elements() {
    private class Piece(val elements: Array<Any?>) {
        var next: Piece? = null
    }

    private var first = NONE
    private var last = NONE
    private var spare: Piece? = null
    private var begin = 0
    private var end = 0

    override fun add(element: Any, level: Int) {
        if (end == last.elements.size) grow()
        last.elements[end++] = element
        size++
    }

    private fun grow() {
        val piece = spare ?: Piece(arrayOfNulls(PIECE))
        spare = null
        if (last === NONE) first = piece else last.next = piece
        last = piece
        end = 0
    }

    override fun removeFirst(): Any {
        val piece = first
        val element = checkNotNull(piece.elements[begin])
        piece.elements[begin++] = null
        size--
        if (size == 0) {
            begin = 0
            end = 0
        } else if (begin == PIECE) {
            first = checkNotNull(piece.next)
            begin = 0
            piece.next = null
            spare = piece
        }
        return element
    }

    override fun removeOldest(): Any = removeFirst()

    private companion object {
        const val PIECE = 32

        /** Before the first element, and of those channels that never hold one. */
        val NONE = Piece(arrayOfNulls(0))
    }
}

/** Between the levels as [BoundedBypass] says, and first in, first out inside a level. */
internal class PriorityElements : Elements() {
    private val levels = Array(BoundedBypass.LEVELS) { FifoElements() }
    private val turns = BoundedBypass()

    override fun add(element: Any, level: Int) {
        levels[level].add(element, level)
        size++
    }

    override fun removeFirst(): Any {
        val level = turns.next(::isEmpty)
        val element = removeFrom(level)
        turns.served(level, ::isEmpty)
        return element
    }

    override fun removeOldest(): Any {
        val level = levels.indexOfLast { it.size > 0 }
        val element = removeFrom(level)
        if (isEmpty(level)) turns.forget(level)
        return element
    }

    private fun removeFrom(level: Int): Any {
        size--
        return levels[level].removeFirst()
    }

    private fun isEmpty(level: Int) = levels[level].size == 0
}

/** Elements that receivers gave back, in the order in which they had been received. Guarded by the channel's lock. */
internal class UndeliveredElements {
    private class Returned(val element: Any, val number: Int)

    // Numbers may have wrapped around; of those out at one time, fewer than half of all are.
    private val heap = java.util.PriorityQueue<Returned> { one, other -> one.number - other.number }

    val size: Int get() = heap.size

    fun add(element: Any, number: Int) {
        heap.add(Returned(element, number))
    }

    /** The number of the next one. There must be one. */
    fun firstNumber(): Int = heap.peek().number

    fun removeFirst(): Any = heap.remove().element
}
