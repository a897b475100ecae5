package baton.waiting

import baton.reportingTo
import baton.waiting.threads.Trampoline
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class TrampolineTest {
    @Test
    fun millionNestedResumptions_growNoStack() {
        var ran = 0

        fun next() {
            if (++ran < 1_000_000) Trampoline.run(::next)
        }
        Trampoline.run(::next)
        assertEquals(1_000_000, ran)
    }

    @Test
    fun resumptions_nestUpToTheLevels_thenArePutOff() {
        var depth = 0
        var deepest = 0
        var ran = 0

        fun next() {
            depth++
            deepest = maxOf(deepest, depth)
            if (++ran < 100) Trampoline.run(::next)
            depth--
        }
        Trampoline.run(::next)
        assertEquals(100, ran)
        assertEquals(Trampoline.LEVELS, deepest)
    }

    @Test
    fun putOff_runInTheOrderTheyCame_beforeTheOutermostReturns() {
        val order = ArrayList<Int>()

        fun nest(levels: Int, then: () -> Unit) {
            if (levels == 0) then() else Trampoline.run { nest(levels - 1, then) }
        }
        nest(Trampoline.LEVELS) {
            repeat(5) { Trampoline.run { order += it } }
            assertTrue(order.isEmpty())
        }
        assertEquals(List(5) { it }, order)
    }

    @Test
    fun resumption_thatThrows_isReported_andStopsNoOther() {
        val reported = ArrayList<Throwable>()
        reportingTo(reported) {
            var ran = 0

            fun next() {
                if (++ran < 50) Trampoline.run(::next)
                error("$ran")
            }
            Trampoline.run(::next)
            assertEquals(50, ran)
            assertEquals(50, reported.size)
        }
        assertLevelsAreFree()
    }

    @Test
    fun enter_isRefusedAtTheLastLevel_andFreeAgainAfterLeave() {
        repeat(Trampoline.LEVELS) { assertTrue(Trampoline.enter()) }
        assertFalse(Trampoline.enter())
        repeat(Trampoline.LEVELS) { Trampoline.leave() }
        assertLevelsAreFree()
    }

    private fun assertLevelsAreFree() {
        repeat(Trampoline.LEVELS) { assertTrue(Trampoline.enter()) }
        repeat(Trampoline.LEVELS) { Trampoline.leave() }
    }
}
