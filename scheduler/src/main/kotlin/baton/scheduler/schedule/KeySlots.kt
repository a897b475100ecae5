package baton.scheduler.schedule

/*
 * How it works
 *
 * A slot is a small number for a key, by which the other arrays of EntryTable are indexed: 12 bytes a key instead of
 * the 48 of a HashMap and its Integers.
 *
 *   keys[s]    the key of slot s, or null if the slot is free; free slots below `used` are in `freed`
 *   table[h]   a slot plus 1, or 0: open addressing with linear probing, at most half full
 *
 * Invariants:
 * (1) Each key is in one slot. Its slot is in the table, between its hash and the next 0.
 * (2) A removal moves back the slots behind it that would be cut off by the 0, so there are no markers to clean up.
 *
 * It is not thread-safe: the lock of the EntryTable guards it. `equals` and `hashCode` of the keys are the only code of
 * users that runs under that lock. They are called before anything is written, so that what they throw leaves the table
 * as it was; `remove` and a growing table call `hashCode` of other keys, too.
 */
internal class KeySlots<K : Any> {
    private var keys = arrayOfNulls<Any>(INITIAL)
    private var table = IntArray(2 * INITIAL)
    private var shift = Int.SIZE_BITS - Integer.numberOfTrailingZeros(2 * INITIAL)
    private val freed = IntList()

    /** Of a removal: the place that becomes free, and then those whose slots move to the one before. */
    private val holes = IntList()
    private var used = 0

    /** How many slots an array that is indexed by them must have. */
    val capacity: Int
        get() = keys.size

    @Suppress("UNCHECKED_CAST") // Only keys of K are stored.
    operator fun get(slot: Int): K? = keys[slot] as K?

    /** The key of [slot], which is not free. */
    fun keyOf(slot: Int): K = checkNotNull(this[slot]) { "slot $slot is free" }

    /** The slot of [key], or -1. */
    fun find(key: K): Int {
        var index = indexOf(key)
        while (true) {
            val slot = table[index] - 1
            if (slot < 0 || keys[slot] == key) return slot
            index = following(index)
        }
    }

    /** Adds [key], which has no slot. */
    fun add(key: K): Int {
        if (freed.size == 0 && used == keys.size) grow()
        val index = firstFree(key)
        val slot = freed.removeLast().let { if (it >= 0) it else used++ }
        keys[slot] = key
        table[index] = slot + 1
        return slot
    }

    fun remove(slot: Int) {
        var hole = indexOf(keyOf(slot))
        while (table[hole] != slot + 1) hole = following(hole)
        holes.clear()
        holes.add(hole)
        var index = hole
        while (true) {
            index = following(index)
            val other = table[index]
            if (other == 0) break
            // The other slot stays if its hash lies between the hole and itself.
            val home = indexOf(keyOf(other - 1))
            if ((index - home and table.size - 1) < (index - hole and table.size - 1)) continue
            hole = index
            holes.add(hole)
        }
        for (i in 1 until holes.size) table[holes[i - 1]] = table[holes[i]]
        table[hole] = 0
        keys[slot] = null
        freed.add(slot)
    }

    private fun grow() {
        val grown = IntArray(2 * table.size)
        for (slot in 0 until used) {
            var index = keyOf(slot).hashCode() * GOLDEN_RATIO ushr shift - 1
            while (grown[index] != 0) index = index + 1 and grown.size - 1
            grown[index] = slot + 1
        }
        // From here on nothing throws but for want of memory, and that before the first assignment.
        keys = keys.copyOf(2 * keys.size)
        table = grown
        shift--
    }

    private fun firstFree(key: Any): Int {
        var index = indexOf(key)
        while (table[index] != 0) index = following(index)
        return index
    }

    /** Fibonacci hashing, because the hashes of numbers in a row are numbers in a row. */
    private fun indexOf(key: Any) = key.hashCode() * GOLDEN_RATIO ushr shift

    private fun following(index: Int) = index + 1 and table.size - 1

    private companion object {
        const val INITIAL = 16

        /** 2^32 divided by the golden ratio. */
        const val GOLDEN_RATIO = -1_640_531_527
    }
}
