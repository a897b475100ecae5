package baton.sync.barrier

import baton.sync.BarrierBrokenException
import baton.sync.BarrierCancellation
import kotlinx.coroutines.test.runCurrent
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** An abort breaks the barrier. A reset fails the waiting parties, and leaves a barrier as new. */
interface BarrierResets : BarrierFixture {
    @Test
    fun reset_someOrNoneWait_theyFailWithoutCauseAndTheBarrierIsWhole() =
        scene(3) {
            repeat(3) { barrier.reset() }
            come("a", "b")
            barrier.reset()
            assertState(waiting = 0)
            for (e in broken("a", "b")) {
                assertEquals("Barrier 'page' was reset", e.message)
                assertNull(e.cause)
            }
            assertWhole()
        }

    @Test
    fun reset_comeBackBeforeTheOthersRan_isANewGeneration() =
        scene(2) {
            come("before")
            barrier.reset()
            comeAtOnce("a")
            comeAtOnce("b")
            assert("b a")
            broken("before")
        }

    @Test
    fun reset_oneOfTheWaitersIsCancelledAtThatMoment_theOthersFail() =
        eachReaction(3) {
            come("a", "b")
            barrier.reset()
            cancel("a")
            assertState(waiting = 0)
            broken("b")
            assertTrue(get("a").isCancelled || get("a").failure is BarrierBrokenException)
            assertWhole()
        }

    @Test
    fun reset_afterTheTripBeforeTheyRan_doesNotReachThem() =
        scene(3) {
            come("a", "b")
            comeAtOnce("c")
            barrier.reset()
            assert("c a b")
        }

    @Test
    fun resetOrAbort_whileTheActionRuns_failsTheOthersNowAndTheLastPartyAtTheEnd() {
        for (cause in listOf(null, IllegalArgumentException("will not come"))) {
            scene(3, isGated = true) {
                come("a", "b", "last", "next")
                if (cause == null) barrier.reset() else barrier.abort(cause)
                assertState(waiting = 0, isBroken = cause != null)
                for (e in broken("a", "b", "next")) assertSame(cause, e.cause)
                assertTrue(get("last").isWaiting)
                open(0)
                assertSame(cause, broken("last").single().cause)
                if (cause == null) assertEquals("Barrier 'page' was reset", broken("last").single().message)
                assertState(waiting = 0, isBroken = cause != null)
            }
        }
    }

    @Test
    fun reset_whileTheActionRuns_barrierIsWholeAtOnceWhateverTheOldActionDoes() {
        for (fails in listOf(false, true)) {
            scene(2, isGated = true) {
                come("a", "last")
                barrier.reset()
                come("b", "c")
                assertEquals(2, runs)
                if (fails) fail(0, IllegalArgumentException("oops")) else open(0)
                scope.runCurrent()
                if (fails) assertTrue(get("last").failure is IllegalArgumentException) else broken("last")
                assert("", waiting = 1)
                open(1)
                scope.runCurrent()
                assertTrue(get("b").isServed && get("c").isServed)
                broken("a")
                assertState(waiting = 0)
            }
        }
    }

    @Test
    fun reset_broken_isWholeEachTime() =
        scene(2, BarrierCancellation.BREAK) {
            repeat(3) {
                come("a")
                cancel("a")
                assertState(waiting = 0, isBroken = true)
                barrier.reset()
                assertWhole()
            }
        }

    @Test
    fun abort_someWait_theyAndLaterPartiesFailWithTheFirstCause() {
        for (cause in listOf(null, IllegalArgumentException("will not come"))) {
            scene(3) {
                come("a", "b")
                barrier.abort(cause)
                barrier.abort(IllegalArgumentException("second"))
                assertState(waiting = 0, isBroken = true)
                come("late")
                for (e in broken("a", "b", "late")) {
                    assertEquals("Barrier 'page' is broken: it was aborted", e.message)
                    assertSame(cause, e.cause)
                }
                barrier.reset()
                assertWhole()
            }
        }
    }
}
