package baton.sync.barrier

import baton.sync.Barrier
import baton.sync.BarrierCancellation
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.waiting.Callers
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** No party goes on before all have arrived; then all do, and the barrier is ready again. */
interface BarrierTrips : BarrierFixture {
    @Test
    fun create_fewerThanOneParty_isRefused() {
        for (parties in listOf(Int.MIN_VALUE, -1, 0)) {
            val e = assertThrows<IllegalArgumentException> { barrier(parties) }
            assertEquals("parties = $parties, must be at least 1", e.message)
        }
        for (parties in listOf(1, 2, Int.MAX_VALUE)) assertEquals(parties, barrier(parties).parties)
    }

    @Test
    fun arrive_notTheLast_waits() =
        runTest {
            val barrier = barrier(3)
            val callers = List(2) { Callers(this).call { barrier.arrive() } }
            assertTrue(callers.all { it.isWaiting })
            assertState(barrier, waiting = 2)
        }

    @Test
    fun arrive_last_doesNotSuspendAndLetsAllGo() =
        runTest {
            val barrier = barrier(3)
            val others = List(2) { Callers(this).call { barrier.arrive() } }
            assertTrue(Callers(this).callAtOnce { barrier.arrive() }.isServed)
            assertState(barrier, waiting = 0)
            runCurrent()
            assertTrue(others.all { it.isServed })
        }

    @Test
    fun arrive_inOrder_answersHowManyWereMissingAndGoesOnInOrder() =
        runTest {
            val barrier = barrier(5)
            val seen = mutableListOf<Int>()
            repeat(5) { Callers(this).callAtOnce { seen += barrier.arrive() } }
            runCurrent()
            assertEquals(listOf(0, 4, 3, 2, 1), seen)
        }

    @Test
    fun arrive_firstOfTheGreatestNumber_isMissingAllOthers() =
        runTest {
            val barrier = barrier(Int.MAX_VALUE)
            val caller = Callers(this).call { barrier.arrive() }
            assertTrue(caller.isWaiting)
            assertState(barrier, waiting = 1)
        }

    @Test
    fun arrive_onlyParty_tripsAtOnceEveryTime() =
        runTest {
            val barrier = barrier(1)
            repeat(3) {
                var index = -1
                assertTrue(Callers(this).callAtOnce { index = barrier.arrive() }.isServed)
                assertEquals(0, index)
            }
            assertState(barrier, waiting = 0)
        }

    @Test
    fun arrive_manyGenerations_eachTripsByItself() =
        runTest {
            val callers = Callers(this)
            val barrier = barrier(2)
            for (round in 1..10) {
                callers.call { barrier.arrive() }
                assertEquals(2 * round - 2, callers.served.size)
                callers.call { barrier.arrive() }
                assertEquals(2 * round, callers.served.size)
                assertState(barrier, waiting = 0)
            }
        }

    @Test
    fun arrive_fastPartyComesAgainBeforeTheOthersRan_waitsForTheNextGeneration() =
        runTest {
            val barrier = barrier(2)
            val log = mutableListOf<String>()
            Callers(this).callAtOnce {
                barrier.arrive()
                log += "slow"
            }
            val fast =
                Callers(this).callAtOnce {
                    barrier.arrive()
                    log += "fast"
                    barrier.arrive()
                    log += "fast again"
                }
            assertEquals(listOf("fast"), log)
            assertState(barrier, waiting = 1)
            runCurrent()
            assertTrue(fast.isWaiting)
            assertEquals(listOf("fast", "slow"), log)
            barrier.arrive()
            runCurrent()
            assertEquals(listOf("fast", "slow", "fast again"), log)
        }

    @Test
    fun arrive_partiesInALoop_stayInStep() =
        runTest {
            val barrier = barrier(3)
            val phases = IntArray(3)
            val callers =
                List(3) { party ->
                    Callers(this).callAtOnce {
                        repeat(100) {
                            phases[party]++
                            barrier.arrive()
                            assertTrue(phases.max() - phases.min() <= 1)
                            barrier.arrive()
                        }
                    }
                }
            runCurrent()
            for (caller in callers) assertTrue(caller.isServed) { "$caller" }
        }

    @Test
    fun arrive_lastIsCancelledAlready_doesNotLookForIt() =
        runTest {
            val barrier = barrier(2)
            val other = Callers(this).call { barrier.arrive() }
            val last =
                Callers(this).call {
                    currentCoroutineContext().job.cancel()
                    barrier.arrive()
                }
            assertTrue(last.isServed && other.isServed)
        }

    @Test
    fun toString_inEveryState_showsIt() =
        runTest {
            val barrier = barrier(3, BarrierCancellation.BREAK, "page")
            assertTrue("Barrier 'page' (parties = 3, waiting = 0)" in barrier.toString())
            val waiter = Callers(this).call { barrier.arrive() }
            assertTrue("Barrier 'page' (parties = 3, waiting = 1)" in barrier.toString())
            waiter.cancel()
            assertTrue("Barrier 'page' (parties = 3, broken, waiting = 0)" in barrier.toString())
            assertTrue("Barrier (parties = 1, waiting = 0)" in barrier(1).toString())
        }
}
