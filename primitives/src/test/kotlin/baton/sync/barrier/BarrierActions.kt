package baton.sync.barrier

import baton.sync.BarrierCancellation.BREAK
import baton.waiting.Callers
import baton.waiting.causes
import kotlin.coroutines.cancellation.CancellationException
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The action runs once for each generation, in the last party, before any party goes on; and decides its outcome. */
interface BarrierActions : BarrierFixture {
    private class Oops : RuntimeException("oops")

    @Test
    fun cancel_ofAnEarlierPartyWhileTheActionRuns_leavesTheNumbersOfTheOthers() {
        for ((leaver, number) in listOf("a" to 3, "b" to 2, "c" to 1)) {
            scene(4, isGated = true) {
                come("a", "b", "c", "d")
                cancel(leaver)
                scope.runCurrent()
                assertTrue(get(leaver).isCancelled)
                open(0)
                scope.runCurrent()
                assertEquals(listOf(0, 1, 2, 3) - number, numbers.sorted(), leaver)
            }
        }
    }

    @Test
    fun action_runsOncePerGenerationBeforeAnyPartyGoesOn() = runTest {
        for (parties in listOf(3, 1)) {
            val log = mutableListOf<String>()
            val barrier = barrier(parties) { log += "action" }
            val round = listOf("action", "2", "0", "1")
            repeat(2) { i ->
                // Neither the action nor the last party suspends.
                repeat(parties) { party ->
                    Callers(this).callAtOnce {
                        barrier.arrive()
                        log += "$party"
                    }
                }
                if (parties > 1) assertEquals("2", log.last())
                runCurrent()
                assertEquals(List(i + 1) { if (parties > 1) round else listOf("action", "0") }.flatten(), log)
            }
        }
    }

    @Test
    fun arrive_moreCallersThanPartiesWhileTheActionRuns_actionsFollowOneAnother() =
        scene(2, isGated = true) {
            come("1", "2", "3", "4", "5", "6", "7")
            assert("", waiting = 6)
            for (round in 0..2) {
                assertEquals(round + 1, runs)
                assertEquals(2 * round, callers.served.size)
                open(round)
                scope.runCurrent()
                assertEquals((1..2 * round + 2).map { "$it" }.toSet(), callers.served.toSet())
            }
            assertState(waiting = 1)
        }

    @Test
    fun arrive_onlyPartyWhileItsActionRuns_waitsForItsTurn() =
        scene(1, isGated = true) {
            come("0", "1", "2")
            assert("", waiting = 2)
            open(0)
            assert("0", waiting = 1)
            open(1)
            assert("0 1")
            open(2)
            assert("0 1 2")
        }

    @Test
    fun action_fails_lastPartyThrowsItAndAllOthersGetItAsTheCause() =
        eachReaction(2, isGated = true) {
            come("a", "last", "b", "c", "d")
            fail(0, Oops())
            scope.runCurrent()
            assertInstanceOf(Oops::class.java, get("last").failure)
            come("late")
            for (e in broken("a", "b", "c", "d", "late")) {
                assertEquals("Barrier 'page' is broken: its action failed", e.message)
                assertTrue(e.causes().any { it is Oops })
            }
            assertEquals(1, runs)
            assertState(waiting = 0, isBroken = true)
        }

    @Test
    fun action_failsForTheOnlyParty_breaksUntilReset() =
        scene(1, isGated = true) {
            for (run in 0..1) {
                come("only")
                fail(run, Oops())
                scope.runCurrent()
                assertInstanceOf(Oops::class.java, get("only").failure)
                assertState(waiting = 0, isBroken = true)
                come("late")
                broken("late")
                barrier.reset()
            }
        }

    @Test
    fun action_throwsCancellation_othersFailInsteadOfBeingCancelled() =
        scene(2, isGated = true) {
            come("other", "last")
            fail(0, CancellationException("not ours"))
            scope.runCurrent()
            assertTrue(get("last").isCancelled)
            assertTrue(broken("other").single().causes().any { it.message == "not ours" })
        }

    @Test
    fun action_lastPartyIsCancelledInIt_breaks() =
        eachReaction(3, isGated = true) {
            come("a", "b", "last")
            cancel("last")
            scope.runCurrent()
            assertTrue(get("last").isCancelled)
            for (e in broken("a", "b")) assertInstanceOf(CancellationException::class.java, e.cause)
            assertState(waiting = 0, isBroken = true)
            barrier.reset()
            assertState(waiting = 0)
        }

    @Test
    fun action_anotherPartyIsCancelledMeanwhile_leavesOrBreaks() =
        eachReaction(3, isGated = true) { onCancel ->
            come("a", "b", "last", "next")
            cancel("a")
            assertState(waiting = if (onCancel == BREAK) 0 else 2, isBroken = onCancel == BREAK)
            if (onCancel == BREAK) broken("b", "next")
            assertTrue(get("last").isWaiting)
            open(0)
            scope.runCurrent()
            assertTrue(get("a").isCancelled)
            if (onCancel == BREAK) {
                assertInstanceOf(CancellationException::class.java, broken("last").single().cause)
                assertState(waiting = 0, isBroken = true)
            } else {
                assertEquals(setOf("b", "last"), callers.served.toSet())
                assertTrue(numbers.toSet().size == 2 && numbers.all { it in 0..2 })
                assertState(waiting = 1)
            }
            assertEquals(1, runs)
        }

    @Test
    fun cancel_oneOfThoseThatCameDuringTheAction_othersMoveUp() =
        scene(2, isGated = true) {
            come("0", "1", "2", "3", "4")
            cancel("2")
            open(0)
            scope.runCurrent()
            assertEquals(2, runs)
            open(1)
            scope.runCurrent()
            assertEquals(setOf("0", "1", "3", "4"), callers.served.toSet())
            assertState(waiting = 0)
        }

    @Test
    fun cancel_breakingTheNextGeneration_leavesThePartyThatRunsTheAction() =
        scene(2, BREAK, isGated = true) {
            come("a", "b", "next", "other")
            cancel("next")
            broken("other")
            assertState(waiting = 1, isBroken = true)
            open(0)
            scope.runCurrent()
            assertEquals(setOf("a", "b"), callers.served.toSet())
            assertState(waiting = 0, isBroken = true)
        }

    @Test
    fun action_resetsItsOwnBarrier_isSkippedByItsPartiesAndLeavesItWhole() = runTest {
        var barrier: BarrierFace? = null
        var runs = 0
        barrier = barrier(2) { if (runs++ == 0) barrier!!.reset() }
        val callers = List(4) { Callers(this).call { barrier.arrive() } }
        callers.take(2).forEach(::assertBroken)
        assertTrue(callers.drop(2).all { it.isServed })
        assertState(barrier, waiting = 0)
    }
}
