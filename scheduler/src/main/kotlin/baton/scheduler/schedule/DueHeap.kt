package baton.scheduler.schedule

import baton.Priority

/*
 * How it works
 *
 * A heap of slots with four children per node, by (due time, priority, sequence). Three comparisons of four are within
 * one cache line of `keys`, and the heap is half as deep as a binary one.
 *
 *   keys[i]        the key of position i: the due time in microseconds, and the level in the lowest three bits
 *   slots[i]       the slot at position i
 *   positions[s]   the position of slot s plus 1; 0 if the slot is not in the heap
 *   sequences[s]   the number of the slot's entry, which decides between equal keys
 *
 * Invariants:
 * (1) No position comes before its parent, so position 0 has the entry that is due first.
 * (2) positions[slots[i]] == i + 1 for each position i below `size`, and positions[s] == 0 for all other slots.
 * (3) A slot keeps its sequence while it is in the heap. Sequences wrap around and are compared by their difference:
 *     two entries are in order unless 2^31 others were added between them.
 *
 * It is not thread-safe: the lock of the EntryTable guards it. Nothing is allocated except where an array grows.
 */
internal class DueHeap {
    private var keys = LongArray(INITIAL)
    private var slots = IntArray(INITIAL)
    private var positions = IntArray(INITIAL)
    private var sequences = IntArray(INITIAL)
    private var nextSequence = 0

    var size = 0
        private set

    /** The slot that is due first, or -1 if the heap is empty. */
    val firstSlot: Int
        get() = if (size == 0) -1 else slots[0]

    /** When it is due, in microseconds since the epoch, or [Times.NEVER] if the heap is empty. */
    val firstDue: Long
        get() = if (size == 0) Times.NEVER else keys[0] shr LEVEL_BITS

    operator fun contains(slot: Int): Boolean = slot < positions.size && positions[slot] != 0

    /** [Times.NEVER] if [slot] is not in the heap. */
    fun dueOf(slot: Int): Long = if (slot in this) keys[positions[slot] - 1] shr LEVEL_BITS else Times.NEVER

    /** Adds [slot], after all that have the same [due] time and [priority], or moves it. */
    fun set(slot: Int, due: Long, priority: Priority) {
        val key = (due shl LEVEL_BITS) or priority.ordinal.toLong()
        if (slot in this) {
            val position = positions[slot] - 1
            if (key < keys[position]) siftUp(position, key, slot) else siftDown(position, key, slot)
            return
        }
        ensureSlot(slot)
        if (size == keys.size) {
            keys = keys.copyOf(2 * size)
            slots = slots.copyOf(2 * size)
        }
        sequences[slot] = nextSequence++
        siftUp(size++, key, slot)
    }

    /** Removes [slot]; no effect if it is not in the heap. */
    fun remove(slot: Int) {
        if (slot !in this) return
        val position = positions[slot] - 1
        positions[slot] = 0
        val last = --size
        if (position == last) return
        val key = keys[last]
        val moved = slots[last]
        if (position > 0 && isBefore(key, moved, parentOf(position))) siftUp(position, key, moved)
        else siftDown(position, key, moved)
    }

    private fun siftUp(from: Int, key: Long, slot: Int) {
        var position = from
        while (position > 0) {
            val parent = parentOf(position)
            if (!isBefore(key, slot, parent)) break
            place(position, keys[parent], slots[parent])
            position = parent
        }
        place(position, key, slot)
    }

    private fun siftDown(from: Int, key: Long, slot: Int) {
        var position = from
        while (true) {
            val firstChild = CHILDREN * position + 1
            if (firstChild >= size) break
            var least = firstChild
            for (child in firstChild + 1 until minOf(firstChild + CHILDREN, size)) {
                if (isBefore(keys[child], slots[child], least)) least = child
            }
            if (isBefore(key, slot, least)) break
            place(position, keys[least], slots[least])
            position = least
        }
        place(position, key, slot)
    }

    private fun isBefore(key: Long, slot: Int, position: Int): Boolean {
        val other = keys[position]
        return if (key != other) key < other else sequences[slot] - sequences[slots[position]] < 0
    }

    private fun place(position: Int, key: Long, slot: Int) {
        keys[position] = key
        slots[position] = slot
        positions[slot] = position + 1
    }

    private fun parentOf(position: Int) = (position - 1) / CHILDREN

    private fun ensureSlot(slot: Int) {
        if (slot < positions.size) return
        val capacity = maxOf(2 * positions.size, slot + 1)
        positions = positions.copyOf(capacity)
        sequences = sequences.copyOf(capacity)
    }

    private companion object {
        const val INITIAL = 16
        const val CHILDREN = 4
        const val LEVEL_BITS = 3
    }
}
