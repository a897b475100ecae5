package baton.sync.barrier

import baton.sync.BarrierCancellation.BREAK
import baton.sync.BarrierCancellation.RETRACT
import kotlin.coroutines.cancellation.CancellationException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job
import kotlinx.coroutines.test.runCurrent
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A cancelled party takes its arrival back, or breaks the barrier; and cannot harm parties that were released. */
interface BarrierCancellations : BarrierFixture {
    @Test
    fun cancel_retractingAnyOne_numbersOfTheOthersStayUniqueAndInOrder() {
        for (leaver in listOf("a", "b", "c")) {
            scene(4, RETRACT) {
                come("a", "b", "c")
                cancel(leaver)
                assertState(waiting = 2)
                repeat(2) { comeAtOnce("late $it") }
                scope.runCurrent()
                assertEquals(listOf(0, 3, 2, 1), numbers, leaver)
                assertTrue(get(leaver).isCancelled)
            }
        }
    }

    @Test
    fun cancel_breaking_othersFailAtOnceWithTheCauseAndSoDoNewcomersUntilReset() {
        for (leaver in listOf("a", "b", "c")) {
            scene(4, BREAK) {
                come("a", "b", "c")
                cancel(leaver)
                assertState(waiting = 0, isBroken = true)
                scope.runCurrent()
                assertTrue(get(leaver).isCancelled)
                repeat(2) { comeAtOnce("late $it") }
                for (e in broken(*(listOf("a", "b", "c", "late 0", "late 1") - leaver).toTypedArray())) {
                    assertEquals("Barrier 'page' is broken: a party was cancelled", e.message)
                    assertInstanceOf(CancellationException::class.java, e.cause)
                }
                assertState(waiting = 0, isBroken = true)
                barrier.reset()
                assertWhole()
            }
        }
    }

    @Test
    fun cancel_letGoAlready_othersGoOnAndTheBarrierIsWhole() {
        for (hasRun in listOf(false, true)) {
            eachReaction(3) {
                come("a", "b")
                comeAtOnce("c")
                if (hasRun) scope.runCurrent()
                cancel("a")
                assert(if (hasRun) "c a b" else "c b")
                assertEquals(!hasRun, get("a").isCancelled)
                assertWhole()
            }
        }
    }

    /** When the first party runs, at once, the others' batch has ended, but they have not been granted themselves. */
    @Test
    fun cancel_byAPartyOfTheSameTrip_breaksNothing() =
        eachReaction(4) {
            callers.callAtOnce("a", Dispatchers.Unconfined) {
                barrier.arrive()
                cancel("b")
            }
            come("b", "c")
            comeAtOnce("d")
            scope.runCurrent()
            assertTrue(get("c").isServed && get("d").isServed)
            assertState(waiting = 0)
            assertWhole()
        }

    @Test
    fun arrive_cancelledAlreadyAndNotLast_throwsAndRetractsOrBreaks() =
        eachReaction(3) { onCancel ->
            come("other")
            val caller =
                callers.call {
                    currentCoroutineContext().job.cancel()
                    barrier.arrive()
                }
            assertTrue(caller.isCancelled)
            assertState(waiting = if (onCancel == BREAK) 0 else 1, isBroken = onCancel == BREAK)
            if (onCancel == BREAK) broken("other") else assertTrue(get("other").isWaiting)
        }

    /** Every one of many, one after the other, and a new one in its place. */
    @Test
    fun cancel_allInTurn_neverTripsBeforeAllAreThere() =
        scene(4) {
            come("0", "1", "2")
            for (i in 3..22) {
                cancel("${i - 3}")
                come("$i")
                assert("", waiting = 3)
            }
            barrier.arrive()
            assert("20 21 22")
        }
}
