package baton.stack

import baton.resilience.CircuitBreaker
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** Many waiters and one reset, and resets one upon the other. Runs with a small stack. */
class BreakerStackTest : StackRun() {
    private fun tripped() = CircuitBreaker().also { it.trip() }

    @ParameterizedTest
    @EnumSource
    fun breaker_closedForMany(world: World) {
        val breaker = tripped()
        releaseMany(world, { breaker.awaitClosed() }, { breaker.waiting }, { breaker.reset() })
    }

    /** Each released waiter closes the breaker of the next. */
    @ParameterizedTest
    @EnumSource
    fun breakers_closedInAChain(world: World) {
        val last = openInAChain(world, MANY, ::tripped, { it.awaitClosed() }, { it.reset() })
        assertEquals(0, last.waiting)
    }

    /** Each released waiter trips and resets the breaker, which releases all waiters that arrived since. */
    @ParameterizedTest
    @EnumSource
    fun breaker_trippedAndResetByThoseReleased(world: World) {
        val breaker = tripped()
        reopenInAChain(world, MANY, { breaker.awaitClosed() }, { breaker.trip() }, { breaker.reset() })
        assertEquals(0, breaker.waiting)
    }

    @ParameterizedTest
    @EnumSource
    fun breaker_cancelledInAChain(world: World) {
        val breaker = tripped()
        cancelInAChain(world, MANY) { next -> finally(next) { breaker.awaitClosed() } }
        assertEquals(0, breaker.waiting)
    }
}
