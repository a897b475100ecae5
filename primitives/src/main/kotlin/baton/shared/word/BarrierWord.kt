package baton.shared.word

/**
 * The word of a barrier, and an entry of its table: functions without effects.
 *
 * ```
 * word    bits 63..32  phase, greater by 1 after each trip and each reset
 *         bit  31      BROKEN, no party of this phase is released; until a reset
 *         bits 30..20  how the last 11 phases ended, the last one in bit 20: 1 by a reset
 *         bits 19..0   number of parties that have arrived
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
 */
internal object BarrierWord {
    const val MAX_PARTIES: Int = (1 shl 20) - 1
    private const val PHASE_SHIFT = 32
    private const val BROKEN = 1L shl 31
    private const val ENDS_SHIFT = 20
    private const val ENDS_BITS = 11
    private const val ENDS_MASK = (1L shl ENDS_BITS) - 1

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

    /** The end of [phase]. One that is forgotten counts as broken. */
    fun outcomeOf(phase: Int, word: Long): Outcome {
        val later = phaseOf(word) - phase
        return when {
            later == 0 -> if (isBroken(word)) Outcome.BROKEN else Outcome.WAITING
            later !in 1..ENDS_BITS -> Outcome.BROKEN
            (word ushr (ENDS_SHIFT + later - 1)) and 1L == 0L -> Outcome.TRIPPED
            else -> Outcome.BROKEN
        }
    }

    fun entry(generation: Int, phase: Int): Long =
        (generation.toLong() shl PHASE_SHIFT) or (phase.toLong() and 0xFFFFFFFFL)

    fun generationOf(entry: Long): Int = (entry ushr PHASE_SHIFT).toInt()

    /** Whether the member of [entry] may have arrived in the phase of [word]. */
    fun isInPhase(entry: Long, word: Long): Boolean =
        generationOf(entry) != 0 && entry.toInt() == phaseOf(word) && arrivedOf(word) > 0
}
