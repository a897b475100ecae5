package baton.sync.barrier

import baton.sync.BarrierCancellation
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job
import kotlinx.coroutines.test.runCurrent
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
    }

    @Test
    fun arrive_firstOfTheGreatestNumber_isMissingAllOthers() =
        scene(Int.MAX_VALUE) {
            assertEquals(Int.MAX_VALUE, barrier.parties)
            come("a")
            assert("", waiting = 1)
        }

    @Test
    fun arrive_inOrder_returnsHowManyWereMissingAndTheLastDoesNotSuspend() =
        scene(5) {
            repeat(3) {
                numbers.clear()
                come("a", "b", "c", "d")
                assertState(waiting = 4)
                assertTrue(comeAtOnce("last").isServed)
                assertState(waiting = 0)
                scope.runCurrent()
                assertEquals(listOf(0, 4, 3, 2, 1), numbers)
            }
        }

    @Test
    fun arrive_onlyParty_tripsAtOnceEveryTime() =
        scene(1) {
            repeat(3) { assertTrue(comeAtOnce("a").isServed) }
            assertEquals(listOf(0, 0, 0), numbers)
            assert("a a a")
        }

    @Test
    fun arrive_fastPartyComesAgainBeforeTheOthersRan_waitsForTheNextGeneration() =
        scene(2) {
            val log = mutableListOf<String>()
            callers.callAtOnce {
                barrier.arrive()
                log += "slow"
            }
            val fast =
                callers.callAtOnce {
                    barrier.arrive()
                    log += "fast"
                    barrier.arrive()
                    log += "fast again"
                }
            assertEquals(listOf("fast"), log)
            assertState(waiting = 1)
            scope.runCurrent()
            assertTrue(fast.isWaiting)
            assertEquals(listOf("fast", "slow"), log)
            barrier.arrive()
            scope.runCurrent()
            assertEquals(listOf("fast", "slow", "fast again"), log)
        }

    @Test
    fun arrive_partiesInALoop_stayInStep() =
        scene(3) {
            val phases = IntArray(3)
            repeat(3) { party ->
                callers.callAtOnce("$party") {
                    repeat(100) {
                        phases[party]++
                        barrier.arrive()
                        assertTrue(phases.max() - phases.min() <= 1)
                        barrier.arrive()
                    }
                }
            }
            scope.runCurrent()
            assertEquals(setOf("0", "1", "2"), callers.served.toSet())
        }

    @Test
    fun arrive_lastIsCancelledAlready_doesNotLookForIt() =
        scene(2) {
            come("other")
            val last =
                callers.call("last") {
                    currentCoroutineContext().job.cancel()
                    barrier.arrive()
                }
            assertTrue(last.isServed && get("other").isServed)
        }

    @Test
    fun toString_inEveryState_showsIt() =
        scene(3, BarrierCancellation.BREAK) {
            assertTrue("Barrier 'page' (parties = 3, waiting = 0)" in barrier.toString())
            come("a")
            assertTrue("Barrier 'page' (parties = 3, waiting = 1)" in barrier.toString())
            cancel("a")
            assertTrue("Barrier 'page' (parties = 3, broken, waiting = 0)" in barrier.toString())
            assertTrue("Barrier (parties = 1, waiting = 0)" in barrier(1).toString())
        }
}
