package baton.waiting

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class FlatStackTest {
    @Test
    fun millionNestedResumptions_growNoStack() {
        var ran = 0

        fun next() {
            if (++ran < 1_000_000) FlatStack.run(::next)
        }
        FlatStack.run(::next)
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
            if (++ran < 100) FlatStack.run(::next)
            depth--
        }
        FlatStack.run(::next)
        assertEquals(100, ran)
        assertEquals(FlatStack.LEVELS, deepest)
    }

    @Test
    fun putOff_runInTheOrderTheyCame_beforeTheOutermostReturns() {
        val order = ArrayList<Int>()

        fun nest(levels: Int, then: () -> Unit) {
            if (levels == 0) then() else FlatStack.run { nest(levels - 1, then) }
        }
        nest(FlatStack.LEVELS) {
            repeat(5) { FlatStack.run { order += it } }
            assertTrue(order.isEmpty())
        }
        assertEquals(List(5) { it }, order)
    }

    @Test
    fun resumption_thatThrows_isReported_andStopsNobodyElse() {
        val reported = ArrayList<Throwable>()
        val handler = Thread.currentThread().uncaughtExceptionHandler
        Thread.currentThread().setUncaughtExceptionHandler { _, e -> reported += e }
        try {
            var ran = 0

            fun next() {
                if (++ran < 50) FlatStack.run(::next)
                error("$ran")
            }
            FlatStack.run(::next)
            assertEquals(50, ran)
            assertEquals(50, reported.size)
        } finally {
            Thread.currentThread().uncaughtExceptionHandler = handler
        }
        assertLevelsAreFree()
    }

    @Test
    fun enter_isRefusedAtTheLastLevel_andFreeAgainAfterLeave() {
        repeat(FlatStack.LEVELS) { assertTrue(FlatStack.enter()) }
        assertFalse(FlatStack.enter())
        repeat(FlatStack.LEVELS) { FlatStack.leave() }
        assertLevelsAreFree()
    }

    private fun assertLevelsAreFree() {
        repeat(FlatStack.LEVELS) { assertTrue(FlatStack.enter()) }
        repeat(FlatStack.LEVELS) { FlatStack.leave() }
    }
}
