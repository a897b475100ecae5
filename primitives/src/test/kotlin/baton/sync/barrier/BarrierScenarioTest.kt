package baton.sync.barrier

import baton.sync.Barrier
import baton.sync.BarrierBrokenException
import baton.waiting.Callers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.launch
import kotlinx.coroutines.supervisorScope
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Bugs that have been shipped elsewhere, as far as the contract does not cover them already. */
class BarrierScenarioTest {
    /** Arrow's CyclicBarrier: the action's failure reached the others as a cancellation, which is never reported. */
    @Test
    fun action_fails_failsTheScopesOfAllParties() = runTest {
        val barrier = Barrier(3) { error("oops") }
        val outcomes = supervisorScope {
            List(3) { async { barrier.arrive() } }.map { runCatching { it.await() }.exceptionOrNull() }
        }
        for (e in outcomes) assertInstanceOf(IllegalStateException::class.java, e)
        assertEquals(2, outcomes.count { it is BarrierBrokenException })
    }

    /**
     * States that only one party could leave: here an action that never ends, and a reset that does not wait for it.
     */
    @Test
    fun reset_actionHangs_barrierGoesOnWithoutIt() = runTest {
        var runs = 0
        val barrier = Barrier(2) { if (runs++ == 0) awaitCancellation() }
        val stuck = List(2) { Callers(this).call { barrier.arrive() } }
        barrier.reset()
        repeat(3) {
            val callers = List(2) { Callers(this).call { barrier.arrive() } }
            assertTrue(callers.all { it.isServed })
        }
        assertInstanceOf(BarrierBrokenException::class.java, stuck[0].failure)
        stuck[1].cancel()
        runCurrent()
        assertTrue(stuck[1].isCancelled)
        assertFalse(barrier.isBroken)
    }

    /** JDK-6253848 and its kin: threads that meet again and again, and a number for the generation that wraps. */
    @Test
    fun arrive_manyGenerations_areAllAlike() = runTest {
        val barrier = Barrier(2)
        var met = 0
        repeat(2) {
            launch {
                repeat(100_000) {
                    barrier.arrive()
                    met++
                }
            }
        }
        testScheduler.advanceUntilIdle()
        assertEquals(200_000, met)
    }

    /** A caller of the action's own barrier waits for itself; a reset from outside ends it. */
    @Test
    fun action_arrivesAtItsOwnBarrier_waitsUntilReset() = runTest {
        var barrier: Barrier? = null
        barrier = Barrier(1) { barrier!!.arrive() }
        val caller = Callers(this).call { barrier.arrive() }
        assertTrue(caller.isWaiting)
        barrier.reset()
        runCurrent()
        assertInstanceOf(BarrierBrokenException::class.java, caller.failure)
    }
}
