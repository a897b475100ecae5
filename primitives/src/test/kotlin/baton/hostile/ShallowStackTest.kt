package baton.hostile

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The helper tries every depth, and finds the state that an overflow leaves behind. */
class ShallowStackTest {
    private class Subject {
        var isBusy = false
        var calls = 0

        fun clean() {
            isBusy = true
            try {
                work(DEPTH)
            } finally {
                isBusy = false
            }
        }

        fun dirty() {
            isBusy = true
            work(DEPTH)
            isBusy = false
        }

        private fun work(depth: Int) {
            calls++
            if (depth > 0) work(depth - 1)
        }
    }

    @Test
    fun sweep_operationCleansUp_passes() {
        val overflows = ShallowStack.sweep(::Subject, Subject::clean) { check(!it.isBusy) }
        assertTrue(overflows > DEPTH / 2, "$overflows")
    }

    @Test
    fun sweep_overflows_reachEveryDepthOfTheOperation() {
        val reached = mutableSetOf<Int>()
        ShallowStack.sweep(::Subject, Subject::clean) { synchronized(reached) { reached += it.calls } }
        // A compiled frame may hold two calls.
        assertEquals(emptyList<Int>(), (1..DEPTH).filter { it !in reached && it - 1 !in reached })
    }

    @Test
    fun sweep_operationLeavesSomethingBehind_fails() {
        val e =
            assertThrows<AssertionError> {
                ShallowStack.sweep(::Subject, Subject::dirty) { check(!it.isBusy) { "busy" } }
            }
        assertEquals("busy", e.cause?.message)
    }

    @Test
    fun sweep_operationThrows_isThrown() {
        var subjects = 0
        assertThrows<UnsupportedOperationException> {
            ShallowStack.sweep(::Subject, { if (subjects++ > 0) throw UnsupportedOperationException() }) {}
        }
    }

    private companion object {
        private const val DEPTH = 50
    }
}
