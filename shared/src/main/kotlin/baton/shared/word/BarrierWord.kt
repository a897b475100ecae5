package baton.shared.word

/**
 * The words of a barrier, and an entry of its table: functions without effects.
 *
 * ```
 * word    bits 63..32  phase, greater by 1 after each trip and each reset
 *         bit  31      BROKEN, no party of this phase is released; until a reset
 *         bits 30..20  how the last 11 phases ended, the last one in bit 20: 1 by a reset
 *         bits 19..0   number of parties that have arrived
 * resets  bit  32      there was a reset, or one was about to be
 *         bits 31..0   phase of the last one
 * entry   bits 63..32  generation of the member; 0: it never arrived
 *         bits 31..0   phase in which it arrived last, or is about to
 * ```
 * ```
 *              arrival of the last party, or reset
 * phase p ─────────────────────────────────────────────▶ phase p + 1
 *    └──── a party died or gave up ────▶ broken ─ reset ────▲
 * ```
 * 1. Every arrow is one compare-and-set of the word.
 * 2. A party notes its phase in its entry before it arrives. So a member whose entry has the current phase may have
 *    arrived; if it is dead, the phase breaks.
 * 3. A reset notes its phase in the resets before it changes the word, and the noted phase never goes back. So a phase
 *    after it has tripped, even if the word has forgotten its end.
 */
internal object BarrierWord {
    const val MAX_PARTIES: Int = (1 shl 20) - 1
    private const val PHASE_SHIFT = 32
    private const val BROKEN = 1L shl 31
    private const val ENDS_SHIFT = 20
    private const val ENDS_BITS = 11
    private const val ENDS_MASK = (1L shl ENDS_BITS) - 1
    private const val HAS_RESET = 1L shl 32
    private const val LOW_INT = 0xFFFFFFFFL

    enum class Outcome {
        WAITING,
        TRIPPED,
        BROKEN,
    }

    fun phaseOf(word: Long): Int = (word ushr PHASE_SHIFT).toInt()

    fun arrivedOf(word: Long): Int = word.toInt() and MAX_PARTIES

    fun isBroken(word: Long): Boolean = word and BROKEN != 0L

    /** The [word], which is not broken, after one more arrival. */
    fun arrived(word: Long, parties: Int): Long =
        if (arrivedOf(word) + 1 == parties) nextPhase(word, isReset = false) else word + 1

    fun broken(word: Long): Long = word or BROKEN

    fun reset(word: Long): Long = nextPhase(word, isReset = true)

    private fun nextPhase(word: Long, isReset: Boolean): Long {
        val ends = ((word ushr ENDS_SHIFT) shl 1) or (if (isReset) 1 else 0)
        return ((phaseOf(word) + 1).toLong() shl PHASE_SHIFT) or ((ends and ENDS_MASK) shl ENDS_SHIFT)
    }

    /** The [resets] with that of the phase of [word]. */
    fun withReset(resets: Long, word: Long): Long {
        val phase = phaseOf(word)
        return if (isResetSince(phase, resets)) resets else HAS_RESET or (phase.toLong() and LOW_INT)
    }

    /**
     * The end of [phase]. One that the word has forgotten counts as broken if there was a reset in it or after it.
     *
     * @param resets read after [word].
     */
    fun outcomeOf(phase: Int, word: Long, resets: Long): Outcome {
        val later = phaseOf(word) - phase
        val isReset =
            when (later) {
                0 -> return if (isBroken(word)) Outcome.BROKEN else Outcome.WAITING
                in 1..ENDS_BITS -> (word ushr (ENDS_SHIFT + later - 1)) and 1L != 0L
                else -> isResetSince(phase, resets)
            }
        return if (isReset) Outcome.BROKEN else Outcome.TRIPPED
    }

    private fun isResetSince(phase: Int, resets: Long): Boolean =
        resets and HAS_RESET != 0L && resets.toInt() - phase >= 0

    fun entry(generation: Int, phase: Int): Long = (generation.toLong() shl PHASE_SHIFT) or (phase.toLong() and LOW_INT)

    fun generationOf(entry: Long): Int = (entry ushr PHASE_SHIFT).toInt()

    /** Whether the member of [entry] may have arrived in the phase of [word]. */
    fun isInPhase(entry: Long, word: Long): Boolean =
        generationOf(entry) != 0 && entry.toInt() == phaseOf(word) && arrivedOf(word) > 0
}
