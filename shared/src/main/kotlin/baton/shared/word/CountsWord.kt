package baton.shared.word

/**
 * The word of a primitive that counts per member, and an entry of its table: functions without effects.
 *
 * ```
 * word    bit  63      LOST, the count of a member that died was taken off, and no caller was told yet
 *         bits 62..50  stamp, greater by 1 after each change
 *         bits 49..30  total, the sum of the counts of all members
 *         bits 29..10  count of the member that was changed last, after that change
 *         bits 9..0    slot of that member; 0: there was no change yet
 * entry   bits 63..40  stamp, greater by 1 after each change
 *         bits 39..20  generation of the member
 *         bits 19..0   count of the member
 * ```
 *
 * A change is one compare-and-set of the word, which holds all of it: the new total, and whose count became what. The
 * entry follows, see [baton.shared.counts.MemberCounts]. The stamps tell a word or an entry from an equal one of
 * earlier.
 */
internal object CountsWord {
    const val MAX_COUNT: Int = (1 shl 20) - 1
    private const val SLOT_BITS = 10
    private const val SLOT_MASK = (1L shl SLOT_BITS) - 1
    private const val COUNT_BITS = 20
    private const val TOTAL_SHIFT = SLOT_BITS + COUNT_BITS
    private const val STAMP_SHIFT = TOTAL_SHIFT + COUNT_BITS
    private const val LOST = 1L shl 63
    private const val ENTRY_STAMP_SHIFT = 2 * COUNT_BITS

    fun totalOf(word: Long): Int = (word ushr TOTAL_SHIFT).toInt() and MAX_COUNT

    fun lastSlotOf(word: Long): Int = (word and SLOT_MASK).toInt()

    fun lastCountOf(word: Long): Int = (word ushr SLOT_BITS).toInt() and MAX_COUNT

    fun isLost(word: Long): Boolean = word and LOST != 0L

    /** The [word] after the count of the member in [slot] became [count], and the sum [total]. */
    fun changed(word: Long, slot: Int, count: Int, total: Int): Long =
        (word and LOST) or
            ((((word ushr STAMP_SHIFT) + 1) shl STAMP_SHIFT) and LOST.inv()) or
            (total.toLong() shl TOTAL_SHIFT) or
            (count.toLong() shl SLOT_BITS) or
            slot.toLong()

    /** The [word] after the count of the dead member in [slot], which was not 0, was taken off. */
    fun takenOff(word: Long, slot: Int, total: Int): Long = changed(word, slot, 0, total) or LOST

    /** The [word] when a caller is about to be told. */
    fun told(word: Long): Long = word and LOST.inv()

    fun countOf(entry: Long): Int = entry.toInt() and MAX_COUNT

    fun generationOf(entry: Long): Int = (entry ushr COUNT_BITS).toInt() and MAX_COUNT

    /** Whether the last change of [word] has not reached [entry], the one of that change's slot. */
    fun isBehind(entry: Long, word: Long): Boolean = countOf(entry) != lastCountOf(word)

    fun withCount(entry: Long, count: Int): Long = entry(entry, generationOf(entry), count)

    /** The [entry], whose count is 0, in the hands of the owner of [generation]. */
    fun adopted(entry: Long, generation: Int): Long = entry(entry, generation, count = 0)

    private fun entry(old: Long, generation: Int, count: Int): Long =
        (((old ushr ENTRY_STAMP_SHIFT) + 1) shl ENTRY_STAMP_SHIFT) or
            (generation.toLong() shl COUNT_BITS) or
            count.toLong()
}
