package baton.stack

import kotlin.coroutines.Continuation
import kotlin.coroutines.resume
import kotlin.coroutines.suspendCoroutine
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** [MANY] is enough: a chain of so many resumptions that nothing flattens overflows the stack. */
class NestedStackTest : StackRun() {
    @Test
    fun resumptionsUponOneAnother_overflow() {
        // In the end it is compiled, and needs less stack for each.
        repeat(100) { assertThrows<StackOverflowError> { resumeInAChain() } }
    }

    private fun resumeInAChain() {
        val waiting = ArrayList<Continuation<Unit>>(MANY)
        repeat(MANY) { n ->
            start(World.NO_DISPATCHER.context) {
                suspendCoroutine { waiting += it }
                if (n + 1 < MANY) waiting[n + 1].resume(Unit)
            }
        }
        waiting[0].resume(Unit)
    }
}
