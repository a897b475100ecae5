package baton.shared.word

/**
 * The word of a mutex, and what may become of it: functions without effects, so that all their interleavings can be
 * checked.
 *
 * ```
 * bit  31       WAITERS     a waiter of another process may sleep: the next unlock wakes one
 * bit  30       ABANDONED   an owner died or gave up in its section, and no owner since has marked the data consistent
 * bits 29..10   generation of the owner's slot
 * bits 9..0     slot of the owner, 1..1023; owner 0: free
 * ```
 * ```
 *            acquired                     released (ABANDONED stays unless consistent)
 * free ───────────────────▶ owned by A ──────────────────────────────────────────────▶ free
 *                            │     ▲ takenOver, if A is dead: sets ABANDONED
 *                            ▼     │
 *                          owned by B
 * ```
 * 1. Every arrow is one compare-and-set from the word that was read.
 * 2. The owner field goes from A to anything else by A's own release, or by a take-over after A was found dead. It
 *    never becomes free by a death: the take-over hands the lock on, marked.
 * 3. ABANDONED is cleared by a release of an owner that marked the data consistent, and by nothing else.
 * 4. A sleeper saw WAITERS set when it fell asleep. An owner that slept takes the word with WAITERS, since others may
 *    sleep still: so a release that clears WAITERS wakes one, which sets it again.
 */
internal object MutexWord {
    const val WAITERS: Int = 1 shl 31
    const val ABANDONED: Int = 1 shl 30
    private const val SLOT_BITS = 10
    private const val SLOT_MASK = (1 shl SLOT_BITS) - 1
    private const val GENERATION_MASK = 0xFFFFF
    private const val OWNER_MASK = ABANDONED - 1

    /** @param slot 1..1023, [generation] 0..0xFFFFF */
    fun owner(slot: Int, generation: Int): Int = ((generation and GENERATION_MASK) shl SLOT_BITS) or slot

    fun ownerOf(word: Int): Int = word and OWNER_MASK

    fun slotOf(word: Int): Int = word and SLOT_MASK

    fun generationOf(word: Int): Int = (word ushr SLOT_BITS) and GENERATION_MASK

    fun isFree(word: Int): Boolean = ownerOf(word) == 0

    fun isAbandoned(word: Int): Boolean = word and ABANDONED != 0

    fun hasWaiters(word: Int): Boolean = word and WAITERS != 0

    /** A free [word] in the hands of [owner]. [slept]: whether it has slept on this word since it began to wait. */
    fun acquired(word: Int, owner: Int, slept: Boolean): Int =
        owner or (word and (ABANDONED or WAITERS)) or (if (slept) WAITERS else 0)

    /** The [word] of a dead owner in the hands of [owner]. Some waiter's wake may have died with the old owner. */
    fun takenOver(owner: Int): Int = owner or ABANDONED or WAITERS

    fun withWaiters(word: Int): Int = word or WAITERS

    /** The [word] of an owner that lets go: [isConsistent] if it vouches for the data. */
    fun released(word: Int, isConsistent: Boolean): Int = if (isConsistent) 0 else word and ABANDONED

    /** The word of an owner that gives up within its section. */
    fun givenUp(): Int = ABANDONED
}
