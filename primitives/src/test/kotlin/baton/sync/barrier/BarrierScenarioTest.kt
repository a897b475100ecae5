package baton.sync.barrier

import baton.sync.Barrier
import baton.sync.BarrierBrokenException
import baton.waiting.Callers
import kotlinx.coroutines.CompletableDeferred
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
    fun action_fails_failsTheScopesOfAllParties() =
        runTest {
            val barrier = Barrier(3) { error("oops") }
            val outcomes =
                supervisorScope {
                    List(3) { async { barrier.arrive() } }.map { runCatching { it.await() }.exceptionOrNull() }
                }
            for (e in outcomes) assertInstanceOf(IllegalStateException::class.java, e)
            assertEquals(2, outcomes.count { it is BarrierBrokenException })
        }

    /**
     * tokio's Barrier is not cancel safe: an arrival that was dropped was counted, and the barrier tripped one short.
     */
    @Test
    fun cancel_oneArrivalInN_doesNotTripBeforeTheNthRealOne() =
        runTest {
            val callers = Callers(this)
            val barrier = Barrier(5)
            repeat(3) { callers.call { barrier.arrive() } }
            callers.call { barrier.arrive() }.cancel()
            callers.call { barrier.arrive() }
            assertEquals(0, callers.served.size)
            callers.call { barrier.arrive() }
            assertEquals(5, callers.served.size)
        }

    /** The last party is cancelled at the moment of the trip: the others wait for no further party. */
    @Test
    fun cancel_lastPartyAtTheTrip_othersAreLetGo() =
        runTest {
            val barrier = Barrier(3)
            val seen = mutableListOf<Int>()
            repeat(2) { Callers(this).call { seen += barrier.arrive() } }
            val last =
                Callers(this).callAtOnce {
                    seen += barrier.arrive()
                    awaitCancellation()
                }
            last.cancel()
            runCurrent()
            assertEquals(listOf(0, 2, 1), seen)
            assertFalse(barrier.isBroken)
        }

    /**
     * States that only one party could leave: here an action that never ends, and a reset that does not wait for it.
     */
    @Test
    fun reset_actionHangs_barrierGoesOnWithoutIt() =
        runTest {
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

    /** An old action that ends late let go, or broke, a generation that was not its own. */
    @Test
    fun reset_oldActionEndsWhileTheNextRuns_doesNotTouchThat() =
        runTest {
            for (fails in listOf(false, true)) {
                val gates = List(2) { CompletableDeferred<Unit>() }
                var runs = 0
                val barrier = Barrier(2) { gates[runs++].await() }
                repeat(2) { Callers(this).call { barrier.arrive() } }
                barrier.reset()
                val next = List(2) { Callers(this).call { barrier.arrive() } }
                if (fails) gates[0].completeExceptionally(IllegalStateException("late")) else gates[0].complete(Unit)
                runCurrent()
                assertTrue(next.all { it.isWaiting })
                assertEquals(1, barrier.waiting)
                gates[1].complete(Unit)
                runCurrent()
                assertTrue(next.all { it.isServed })
            }
        }

    /** JDK-6253848 and its kin: threads that meet again and again, and a number for the generation that wraps. */
    @Test
    fun arrive_manyGenerations_areAllAlike() =
        runTest {
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
    fun action_arrivesAtItsOwnBarrier_waitsUntilReset() =
        runTest {
            var barrier: Barrier? = null
            barrier = Barrier(1) { barrier!!.arrive() }
            val caller = Callers(this).call { barrier.arrive() }
            assertTrue(caller.isWaiting)
            barrier.reset()
            runCurrent()
            assertInstanceOf(BarrierBrokenException::class.java, caller.failure)
        }
}
