package baton.shared.counts

import baton.shared.region.SharedMemory
import baton.shared.region.SharedObject
import baton.shared.waiting.ChangeWord
import baton.shared.word.CountsWord
import java.util.TreeMap

/**
 * A count for each member of the region and their sum, which stay right whenever a member dies.
 *
 * ```
 * +0 u32 word to wait for, see WakeWord     +8 u64 word, see CountsWord     table: an entry per slot, see CountsWord
 * ```
 *
 * The word and the entry of the changed member cannot change in one step. So the word names its last change in full:
 * whose count became what. Any member that is about to change the word again first [settle]s that change: it brings the
 * entry up to date, in place of a member that is slow or dead.
 * 1. Every change is one compare-and-set of the word, from a word whose last change is settled.
 * 2. Entries are right, except that of the last change, whose count is in the word. So their sum is the total.
 * 3. An entry is set only from the value that was there while the word still named the change: a late helper fails.
 * 4. The changes of one member come one after the other, under [monitor]. A member changes the counts of others only to
 *    take them off, for a done by proxy or for a death; those go through the word, too.
 * 5. An entry with the generation of an earlier owner of our slot belongs to a dead one. It is taken off when the
 *    primitive is opened, before the entry is used.
 * 6. LOST is set by the change that takes off a count other than 0 for a death or a close, and cleared by [clearLost],
 *    which changes nothing else.
 * 7. After the end of the region nothing is changed but by [end]: changes look for it under [monitor].
 */
internal class MemberCounts(private val memory: SharedMemory, shared: SharedObject) {
    private val words = shared.words
    private val table = shared.table
    private val monitor = Any()
    val changes = ChangeWord(memory, words)

    /** The end of the region lost the file. Guarded by [monitor]. */
    private var isFileLost = false

    /** When the deaths of others were last looked for without waiting. A lost update costs a look. */
    @Volatile private var lastProbe = System.nanoTime() - PROBE_NANOS

    init {
        adoptEntry()
    }

    /** Sum of all counts, those of the dead included until they are taken off. */
    val total: Int
        get() = CountsWord.totalOf(words.getLong(WORD))

    /** Whether counts of dead members were taken off, and [clearLost] was not called since. */
    val isLost: Boolean
        get() = CountsWord.isLost(words.getLong(WORD))

    /** The counts above 0 by process, in the order of the process ids: a look at one entry after the other. */
    fun byProcess(): Map<Long, Int> {
        synchronized(monitor) { if (memory.isOpen) settledWord() else return emptyMap() }
        val counts = TreeMap<Long, Int>()
        for (slot in 1..memory.highestSlot) {
            val entry = table.getLong(entryAt(slot))
            val count = CountsWord.countOf(entry)
            if (count == 0) continue
            memory.pidOf(slot, CountsWord.generationOf(entry))?.let { counts.merge(it, count, Int::plus) }
        }
        return counts
    }

    /** Adds [n] to the count of this member, unless the total would be above [limit]; then false. */
    fun tryAdd(n: Int, limit: Int): Boolean {
        synchronized(monitor) {
            memory.check()
            do {
                val word = settledWord()
                val total = CountsWord.totalOf(word)
                if (n > limit - total) return false
            } while (!tryChange(word, memory.slot, countOf(memory.slot) + n, total + n))
        }
        return true
    }

    /**
     * Takes [n] off the count of this member, and wakes the waiters. Does nothing after a close of the region.
     *
     * @return false, and nothing is changed, if the count is below [n].
     * @throws baton.shared.SharedRegionException if the file was removed or cut.
     */
    fun tryRemove(n: Int): Boolean {
        synchronized(monitor) {
            if (isFileLost) memory.check()
            if (!memory.isOpen) return true
            do {
                val word = settledWord()
                val count = countOf(memory.slot)
                if (n > count) return false
            } while (!tryChange(word, memory.slot, count - n, CountsWord.totalOf(word) - n))
        }
        changes.announce()
        return true
    }

    /**
     * Takes 1 off the count of this member; if that is 0, off that of the member in the lowest slot that has one. Wakes
     * the waiters if the total becomes 0.
     *
     * @return false, and nothing is changed, if the total is 0.
     */
    fun tryRemoveOneOfAny(): Boolean {
        var total: Int
        synchronized(monitor) {
            memory.check()
            do {
                val word = settledWord()
                total = CountsWord.totalOf(word) - 1
                if (total < 0) return false
                val slot = slotWithCount() // 0: the word has changed since.
            } while (slot == 0 || !tryChange(word, slot, countOf(slot) - 1, total))
        }
        if (total == 0) changes.announce()
        return true
    }

    private fun slotWithCount(): Int {
        if (countOf(memory.slot) > 0) return memory.slot
        return (1..memory.highestSlot).firstOrNull { countOf(it) > 0 } ?: 0
    }

    /** A caller is told of all that [isLost] now. */
    fun clearLost() {
        do {
            val word = settledWord()
        } while (CountsWord.isLost(word) && !words.casLong(WORD, word, CountsWord.told(word)))
    }

    /** As [takeOffDead], at most every 25 ms; otherwise 0. For calls that do not wait. */
    fun takeOffDeadNowAndThen(): Int {
        val now = System.nanoTime()
        if (now - lastProbe < PROBE_NANOS) return 0
        lastProbe = now
        return takeOffDead()
    }

    /** Takes off the counts of dead members, and wakes the waiters if there were any. Returns how many were taken. */
    fun takeOffDead(): Int {
        synchronized(monitor) {
            if (!memory.isOpen) return 0
            settledWord()
        }
        var taken = 0
        for (slot in 1..memory.highestSlot) if (slot != memory.slot) taken += takeOffIfDead(slot)
        if (taken > 0) changes.announce()
        return taken
    }

    /** The region has ended: takes off the count of this member, if the file [isUsable]. */
    fun end(isUsable: Boolean) {
        synchronized(monitor) {
            isFileLost = !isUsable
            if (isUsable) takeOff(memory.slot) { true }
        }
        if (isUsable) changes.announce()
    }

    private fun adoptEntry() {
        val slot = memory.slot
        val taken = takeOff(slot) { CountsWord.generationOf(it) != memory.generation }
        while (true) {
            val entry = table.getLong(entryAt(slot))
            if (CountsWord.generationOf(entry) == memory.generation) break
            if (table.casLong(entryAt(slot), entry, CountsWord.adopted(entry, memory.generation))) break
        }
        if (taken > 0) changes.announce()
    }

    /** A death is final, so the slow question is asked before the lock is taken. */
    private fun takeOffIfDead(slot: Int): Int {
        val entry = table.getLong(entryAt(slot))
        val generation = CountsWord.generationOf(entry)
        if (CountsWord.countOf(entry) == 0 || memory.isAlive(slot, generation)) return 0
        synchronized(monitor) {
            return if (memory.isOpen) takeOff(slot) { CountsWord.generationOf(it) == generation } else 0
        }
    }

    /** Makes the count of [slot] 0 if its entry is [meant]; returns what it was. */
    private inline fun takeOff(slot: Int, meant: (Long) -> Boolean): Int {
        while (true) {
            val word = settledWord()
            val entry = table.getLong(entryAt(slot))
            val count = CountsWord.countOf(entry)
            if (count == 0 || !meant(entry)) return 0
            if (tryChange(word, CountsWord.takenOff(word, slot, CountsWord.totalOf(word) - count))) return count
        }
    }

    private fun tryChange(word: Long, slot: Int, count: Int, total: Int): Boolean =
        tryChange(word, CountsWord.changed(word, slot, count, total))

    private fun tryChange(word: Long, changed: Long): Boolean {
        if (!words.casLong(WORD, word, changed)) return false
        settle(changed)
        return true
    }

    private fun settledWord(): Long {
        val word = words.getLong(WORD)
        settle(word)
        return word
    }

    /** Brings the entry of the last change of [word] up to date, unless the word has changed since. */
    private fun settle(word: Long) {
        val slot = CountsWord.lastSlotOf(word)
        if (slot == 0) return
        val entry = table.getLong(entryAt(slot))
        if (!CountsWord.isBehind(entry, word) || words.getLong(WORD) != word) return
        table.casLong(entryAt(slot), entry, CountsWord.withCount(entry, CountsWord.lastCountOf(word)))
    }

    private fun countOf(slot: Int): Int = CountsWord.countOf(table.getLong(entryAt(slot)))

    private fun entryAt(slot: Int): Int = slot * Long.SIZE_BYTES

    private companion object {
        const val WORD = 8
        const val PROBE_NANOS = 25_000_000L
    }
}
