package baton.shared.word

import baton.shared.word.BarrierWord.Outcome
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class BarrierModelTest {
    /** Every sequence of 8 arrivals, breaks and resets beside a model that remembers the end of each phase. */
    @Test
    fun outcome_afterAnySequenceOfSteps_isThatOfTheModel() {
        check(0, 0, arrived = 0, isBroken = false, ends = emptyList(), left = 8)
    }

    private fun check(word: Long, resets: Long, arrived: Int, isBroken: Boolean, ends: List<Outcome>, left: Int) {
        assertEquals(ends.size, BarrierWord.phaseOf(word))
        assertEquals(arrived, BarrierWord.arrivedOf(word))
        assertEquals(isBroken, BarrierWord.isBroken(word))
        ends.forEachIndexed { phase, end -> assertEquals(end, BarrierWord.outcomeOf(phase, word, resets)) }
        val now = if (isBroken) Outcome.BROKEN else Outcome.WAITING
        assertEquals(now, BarrierWord.outcomeOf(ends.size, word, resets))
        if (left == 0) return
        val noted = BarrierWord.withReset(resets, word)
        check(BarrierWord.reset(word), noted, 0, false, ends + Outcome.BROKEN, left - 1)
        check(BarrierWord.broken(word), resets, arrived, true, ends, left - 1)
        if (isBroken) return
        val next = BarrierWord.arrived(word, parties = 2)
        if (arrived == 0) check(next, resets, 1, false, ends, left - 1)
        else check(next, resets, 0, false, ends + Outcome.TRIPPED, left - 1)
    }

    @Test
    fun phase_thatWraps_keepsItsOutcome() {
        var word = -1L shl 32 // Phase -1, the last one before 0.
        var resets = 0L
        assertEquals(Outcome.WAITING, BarrierWord.outcomeOf(-1, word, resets))
        word = BarrierWord.arrived(word, parties = 1)
        assertEquals(0, BarrierWord.phaseOf(word))
        assertEquals(Outcome.TRIPPED, BarrierWord.outcomeOf(-1, word, resets))
        resets = BarrierWord.withReset(resets, word)
        word = BarrierWord.reset(word)
        assertEquals(Outcome.BROKEN, BarrierWord.outcomeOf(0, word, resets))
        repeat(9) { word = BarrierWord.arrived(word, parties = 1) }
        assertEquals(Outcome.TRIPPED, BarrierWord.outcomeOf(-1, word, resets))
        assertEquals(Outcome.BROKEN, BarrierWord.outcomeOf(0, word, resets))
    }

    /** The word remembers the ends of 11 phases, the resets the last reset. */
    @Test
    fun phase_thatTheWordHasForgotten_hasTrippedUnlessAResetCameLater() {
        for (first in listOf(0, -3, Int.MAX_VALUE - 3)) {
            var word = first.toLong() shl 32
            repeat(3) { word = BarrierWord.arrived(word, parties = 1) }
            val resets = BarrierWord.withReset(0, word)
            word = BarrierWord.reset(word)
            repeat(100) { word = BarrierWord.arrived(word, parties = 1) }
            assertEquals(Outcome.TRIPPED, BarrierWord.outcomeOf(first + 3, word, resets = 0))
            assertEquals(Outcome.BROKEN, BarrierWord.outcomeOf(first + 2, word, resets))
            assertEquals(Outcome.BROKEN, BarrierWord.outcomeOf(first + 3, word, resets))
            for (after in 4..104 - 1) assertEquals(Outcome.TRIPPED, BarrierWord.outcomeOf(first + after, word, resets))
            // A slow reset of an earlier phase changes nothing.
            assertEquals(resets, BarrierWord.withReset(resets, first.toLong() shl 32))
        }
    }

    @Test
    fun entry_isInThePhaseOfItsMemberAlone() {
        var word = BarrierWord.reset(0)
        assertFalse(BarrierWord.isInPhase(BarrierWord.entry(generation = 7, phase = 1), word))
        word = BarrierWord.arrived(word, BarrierWord.MAX_PARTIES)
        val entry = BarrierWord.entry(generation = 0xFFFFF, phase = 1)
        assertTrue(BarrierWord.isInPhase(entry, word))
        assertEquals(0xFFFFF, BarrierWord.generationOf(entry))
        assertFalse(BarrierWord.isInPhase(BarrierWord.entry(generation = 7, phase = 0), word))
        assertFalse(BarrierWord.isInPhase(0, BarrierWord.arrived(0, 2)))
        assertTrue(BarrierWord.isInPhase(BarrierWord.entry(7, -1), BarrierWord.arrived(-1L shl 32, 2)))
        val full =
            (0 until BarrierWord.MAX_PARTIES - 1).fold(0L) { it, _ -> BarrierWord.arrived(it, BarrierWord.MAX_PARTIES) }
        assertEquals(BarrierWord.MAX_PARTIES - 1, BarrierWord.arrivedOf(full))
        assertEquals(1L shl 32, BarrierWord.arrived(full, BarrierWord.MAX_PARTIES))
    }
}
