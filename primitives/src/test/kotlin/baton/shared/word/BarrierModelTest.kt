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
        check(0, arrived = 0, isBroken = false, ends = emptyList(), left = 8)
    }

    private fun check(word: Long, arrived: Int, isBroken: Boolean, ends: List<Outcome>, left: Int) {
        assertEquals(ends.size, BarrierWord.phaseOf(word))
        assertEquals(arrived, BarrierWord.arrivedOf(word))
        assertEquals(isBroken, BarrierWord.isBroken(word))
        ends.forEachIndexed { phase, end -> assertEquals(end, BarrierWord.outcomeOf(phase, word)) }
        val now = if (isBroken) Outcome.BROKEN else Outcome.WAITING
        assertEquals(now, BarrierWord.outcomeOf(ends.size, word))
        if (left == 0) return
        check(BarrierWord.reset(word), 0, false, ends + Outcome.BROKEN, left - 1)
        check(BarrierWord.broken(word), arrived, true, ends, left - 1)
        if (isBroken) return
        val next = BarrierWord.arrived(word, parties = 2)
        if (arrived == 0) check(next, 1, false, ends, left - 1)
        else check(next, 0, false, ends + Outcome.TRIPPED, left - 1)
    }

    @Test
    fun phase_thatWraps_keepsItsOutcome() {
        var word = -1L shl 32 // Phase -1, the last one before 0.
        assertEquals(Outcome.WAITING, BarrierWord.outcomeOf(-1, word))
        word = BarrierWord.arrived(word, parties = 1)
        assertEquals(0, BarrierWord.phaseOf(word))
        assertEquals(Outcome.TRIPPED, BarrierWord.outcomeOf(-1, word))
        word = BarrierWord.reset(word)
        assertEquals(Outcome.BROKEN, BarrierWord.outcomeOf(0, word))
        repeat(9) { word = BarrierWord.arrived(word, parties = 1) }
        assertEquals(Outcome.TRIPPED, BarrierWord.outcomeOf(-1, word))
        assertEquals(Outcome.BROKEN, BarrierWord.outcomeOf(0, word))
        word = BarrierWord.arrived(word, parties = 1)
        assertEquals(Outcome.BROKEN, BarrierWord.outcomeOf(-1, word), "a phase that is forgotten counts as broken")
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
