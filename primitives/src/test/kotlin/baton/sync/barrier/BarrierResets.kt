package baton.sync.barrier

import baton.sync.Barrier
import baton.sync.BarrierBrokenException
import baton.sync.BarrierCancellation
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.waiting.Callers
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** An abort breaks the barrier. A reset fails the waiting parties, and leaves a barrier as new. */
interface BarrierResets : BarrierFixture {
    @Test
    fun reset_nobodyWaits_changesNothing() =
        runTest {
            val barrier = barrier(2)
            repeat(3) { barrier.reset() }
            assertState(barrier, waiting = 0)
            Callers(this).assertWhole(barrier)
        }

    @Test
    fun reset_someWait_theyFailWithoutCauseAndTheBarrierIsWhole() =
        runTest {
            val barrier = barrier(3, name = "page")
            val waiters = List(2) { Callers(this).call { barrier.arrive() } }
            barrier.reset()
            assertState(barrier, waiting = 0)
            runCurrent()
            for (waiter in waiters) {
                val e = assertBroken(waiter)
                assertEquals("Barrier 'page' was reset", e.message)
                assertNull(e.cause)
            }
            Callers(this).assertWhole(barrier)
        }

    @Test
    fun reset_comesBackToTheBarrierBeforeTheOthersRan_isANewGeneration() =
        runTest {
            val barrier = barrier(2)
            val before = Callers(this).call { barrier.arrive() }
            barrier.reset()
            val after = List(2) { Callers(this).callAtOnce { barrier.arrive() } }
            runCurrent()
            assertBroken(before)
            assertTrue(after.all { it.isServed })
        }

    @Test
    fun reset_oneOfTheWaitersWasCancelledAtThatMoment_itIsCancelledAndTheOthersFail() =
        runTest {
            for (onCancel in BarrierCancellation.entries) {
                val barrier = barrier(3, onCancel)
                val waiters = List(2) { Callers(this).call { barrier.arrive() } }
                barrier.reset()
                waiters[0].cancel()
                assertState(barrier, waiting = 0)
                runCurrent()
                assertTrue(waiters[0].isCancelled || waiters[0].failure is BarrierBrokenException)
                assertBroken(waiters[1])
                Callers(this).assertWhole(barrier)
            }
        }

    @Test
    fun reset_afterTheTripBeforeTheyRan_doesNotReachThem() =
        runTest {
            val barrier = barrier(3)
            val waiters = List(2) { Callers(this).call { barrier.arrive() } }
            Callers(this).callAtOnce { barrier.arrive() }
            barrier.reset()
            runCurrent()
            assertTrue(waiters.all { it.isServed })
        }

    @Test
    fun reset_whileTheActionRuns_failsTheOthersNowAndTheLastPartyAtTheEnd() =
        runTest {
            val gate = CompletableDeferred<Unit>()
            var runs = 0
            val barrier = barrier(3) { if (runs++ == 0) gate.await() }
            val callers = List(3) { Callers(this).call { barrier.arrive() } }
            barrier.reset()
            assertState(barrier, waiting = 0)
            runCurrent()
            callers.take(2).forEach(::assertBroken)
            assertTrue(callers[2].isWaiting)
            // Whole at once: no caller waits for the old action.
            Callers(this).assertWhole(barrier)
            gate.complete(Unit)
            runCurrent()
            assertEquals("Barrier was reset", assertBroken(callers[2]).message)
            Callers(this).assertWhole(barrier)
            assertEquals(3, runs)
        }

    @Test
    fun reset_whileTheActionRunsThatThenFails_lastPartyThrowsThatAndBreaksNothing() =
        runTest {
            val gate = CompletableDeferred<Unit>()
            var runs = 0
            val barrier = barrier(2) { if (runs++ == 0) gate.await() }
            val callers = List(2) { Callers(this).call { barrier.arrive() } }
            barrier.reset()
            gate.completeExceptionally(IllegalArgumentException("oops"))
            runCurrent()
            assertBroken(callers[0])
            assertTrue(callers[1].failure is IllegalArgumentException)
            assertState(barrier, waiting = 0)
            Callers(this).assertWhole(barrier)
        }

    @Test
    fun reset_whileTheActionRuns_failsThoseOfTheNextGenerationToo() =
        runTest {
            val gate = CompletableDeferred<Unit>()
            val barrier = barrier(2) { gate.await() }
            val callers = List(5) { Callers(this).call { barrier.arrive() } }
            barrier.reset()
            runCurrent()
            for (i in listOf(0, 2, 3, 4)) assertBroken(callers[i])
            gate.complete(Unit)
            runCurrent()
            assertBroken(callers[1])
            assertState(barrier, waiting = 0)
        }

    @Test
    fun reset_broken_isWholeEachTime() =
        runTest {
            val barrier = barrier(2, BarrierCancellation.BREAK)
            repeat(3) {
                Callers(this).call { barrier.arrive() }.cancel()
                assertState(barrier, waiting = 0, isBroken = true)
                barrier.reset()
                Callers(this).assertWhole(barrier)
            }
        }

    @Test
    fun abort_someWait_theyFailWithTheCauseAndNobodyMayCome() =
        runTest {
            for (cause in listOf(null, IllegalArgumentException("will not come"))) {
                val barrier = barrier(3, name = "page")
                val waiters = List(2) { Callers(this).call { barrier.arrive() } }
                barrier.abort(cause)
                assertState(barrier, waiting = 0, isBroken = true)
                runCurrent()
                for (caller in waiters + Callers(this).call { barrier.arrive() }) {
                    val e = assertBroken(caller)
                    assertEquals("Barrier 'page' is broken: it was aborted", e.message)
                    assertEquals(cause, e.cause)
                }
                barrier.reset()
                Callers(this).assertWhole(barrier)
            }
        }

    @Test
    fun abort_brokenAlready_keepsTheFirstCause() =
        runTest {
            val barrier = barrier(2)
            barrier.abort(IllegalArgumentException("first"))
            barrier.abort(IllegalArgumentException("second"))
            assertEquals("first", assertBroken(Callers(this).call { barrier.arrive() }).cause?.message)
        }

    @Test
    fun abort_whileTheActionRuns_failsTheOthersNowAndTheLastPartyAtTheEnd() =
        runTest {
            val gate = CompletableDeferred<Unit>()
            val barrier = barrier(3) { gate.await() }
            val callers = List(3) { Callers(this).call { barrier.arrive() } }
            val next = Callers(this).call { barrier.arrive() }
            val cause = IllegalArgumentException("will not come")
            barrier.abort(cause)
            runCurrent()
            for (caller in callers.take(2) + next) assertEquals(cause, assertBroken(caller).cause)
            assertTrue(callers[2].isWaiting)
            gate.complete(Unit)
            runCurrent()
            assertEquals(cause, assertBroken(callers[2]).cause)
            assertState(barrier, waiting = 0, isBroken = true)
        }
}
