package baton.sync.barrier

import baton.sync.Barrier
import baton.sync.BarrierCancellation
import baton.sync.BarrierCancellation.BREAK
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.waiting.Callers
import baton.waiting.causes
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * The action runs once for each generation, in the last party, before any party goes on; and decides its outcome.
 */
interface BarrierActions : BarrierFixture {
    private class Gate {
        val open = mutableListOf<CompletableDeferred<Unit>>()
        var ended = 0

        suspend fun run() {
            val gate = CompletableDeferred<Unit>()
            open += gate
            gate.await()
            ended++
        }
    }

    private class Oops : RuntimeException("oops")

    @Test
    fun action_runsOncePerGenerationBeforeAnybodyGoesOn() =
        runTest {
            val log = mutableListOf<String>()
            val barrier = barrier(3) { log += "action" }
            repeat(2) { round ->
                repeat(3) { i ->
                    Callers(this).callAtOnce {
                        barrier.arrive()
                        log += "$i"
                    }
                }
                runCurrent()
                assertEquals(List(round + 1) { listOf("action", "2", "0", "1") }.flatten(), log)
            }
        }

    @Test
    fun action_doesNotSuspend_norDoesTheLastParty() =
        runTest {
            var ran = 0
            val barrier = barrier(2) { ran++ }
            Callers(this).call { barrier.arrive() }
            assertTrue(Callers(this).callAtOnce { barrier.arrive() }.isServed)
            assertEquals(1, ran)
            val only = barrier(1) { ran++ }
            repeat(2) { assertTrue(Callers(this).callAtOnce { only.arrive() }.isServed) }
            assertEquals(3, ran)
        }

    @Test
    fun action_suspends_nobodyGoesOnMeanwhile() =
        runTest {
            val gate = Gate()
            val barrier = barrier(3, action = gate::run)
            val callers = List(3) { Callers(this).call { barrier.arrive() } }
            assertTrue(callers.all { it.isWaiting })
            assertState(barrier, waiting = 2)
            gate.open[0].complete(Unit)
            runCurrent()
            assertTrue(callers.all { it.isServed })
            assertState(barrier, waiting = 0)
        }

    @Test
    fun action_fails_lastPartyThrowsItAndTheOthersGetItAsTheCause() =
        runTest {
            for (onCancel in BarrierCancellation.entries) {
                val barrier = barrier(3, onCancel, "page") { throw Oops() }
                val others = List(2) { Callers(this).call { barrier.arrive() } }
                val last = Callers(this).call { barrier.arrive() }
                assertInstanceOf(Oops::class.java, last.failure)
                for (other in others) {
                    val e = assertBroken(other)
                    assertEquals("Barrier 'page' is broken: its action failed", e.message)
                    assertInstanceOf(Oops::class.java, e.cause)
                }
                assertState(barrier, waiting = 0, isBroken = true)
                assertBroken(Callers(this).call { barrier.arrive() })
            }
        }

    @Test
    fun action_failsForTheOnlyParty_breaks() =
        runTest {
            val barrier = barrier(1) { throw Oops() }
            assertInstanceOf(Oops::class.java, Callers(this).call { barrier.arrive() }.failure)
            assertState(barrier, waiting = 0, isBroken = true)
            assertBroken(Callers(this).call { barrier.arrive() })
            barrier.reset()
            assertInstanceOf(Oops::class.java, Callers(this).call { barrier.arrive() }.failure)
        }

    @Test
    fun action_throwsCancellation_othersFailInsteadOfBeingCancelled() =
        runTest {
            val barrier = barrier(2) { throw CancellationException("not ours") }
            val other = Callers(this).call { barrier.arrive() }
            val last = Callers(this).call { barrier.arrive() }
            assertTrue(last.isCancelled)
            assertTrue(assertBroken(other).causes().any { it.message == "not ours" })
        }

    @Test
    fun action_lastPartyIsCancelledInIt_breaks() =
        runTest {
            for (onCancel in BarrierCancellation.entries) {
                val barrier = barrier(3, onCancel, action = Gate()::run)
                val others = List(2) { Callers(this).call { barrier.arrive() } }
                val last = Callers(this).call { barrier.arrive() }
                last.cancel()
                runCurrent()
                assertTrue(last.isCancelled) { "$last" }
                for (other in others) {
                    assertInstanceOf(CancellationException::class.java, assertBroken(other).cause)
                }
                assertState(barrier, waiting = 0, isBroken = true)
                barrier.reset()
                assertState(barrier, waiting = 0)
            }
        }

    @Test
    fun action_anotherPartyIsCancelledMeanwhile_retractingItJustLeaves() =
        runTest {
            val gate = Gate()
            val barrier = barrier(4, action = gate::run)
            val seen = mutableListOf<Int>()
            val callers = List(4) { Callers(this).call { seen += barrier.arrive() } }
            callers[1].cancel()
            runCurrent()
            assertTrue(callers[1].isCancelled)
            assertState(barrier, waiting = 2)
            gate.open[0].complete(Unit)
            runCurrent()
            assertEquals(3, seen.toSet().size)
            assertTrue(seen.all { it in 0..3 })
            assertEquals(1, gate.open.size)
            assertState(barrier, waiting = 0)
        }

    @Test
    fun action_anotherPartyIsCancelledMeanwhile_breakingAllFail() =
        runTest {
            val gate = Gate()
            val barrier = barrier(3, BREAK, action = gate::run)
            val callers = List(3) { Callers(this).call { barrier.arrive() } }
            val next = Callers(this).call { barrier.arrive() }
            callers[0].cancel()
            assertState(barrier, waiting = 0, isBroken = true)
            runCurrent()
            for (broken in listOf(callers[1], next)) assertBroken(broken)
            assertTrue(callers[2].isWaiting)
            gate.open[0].complete(Unit)
            runCurrent()
            assertInstanceOf(CancellationException::class.java, assertBroken(callers[2]).cause)
            assertState(barrier, waiting = 0, isBroken = true)
        }

    @Test
    fun arrive_whileAnActionRuns_gathersForTheNextGeneration() =
        runTest {
            val gate = Gate()
            val callers = Callers(this)
            val barrier = barrier(2, action = gate::run)
            repeat(2) { callers.call("first") { barrier.arrive() } }
            val next = callers.call("next") { barrier.arrive() }
            assertState(barrier, waiting = 2)
            gate.open[0].complete(Unit)
            runCurrent()
            assertEquals(listOf("first", "first"), callers.served)
            assertTrue(next.isWaiting)
            assertState(barrier, waiting = 1)
            callers.call("next") { barrier.arrive() }
            gate.open[1].complete(Unit)
            runCurrent()
            assertEquals(listOf("first", "first", "next", "next"), callers.served)
        }

    @Test
    fun arrive_moreCallersThanParties_actionsFollowOneAnother() =
        runTest {
            val gate = Gate()
            val callers = Callers(this)
            val barrier = barrier(2, action = gate::run)
            repeat(7) { i -> callers.call("${i / 2}") { barrier.arrive() } }
            assertState(barrier, waiting = 6)
            for (round in 0..2) {
                assertEquals(round + 1, gate.open.size)
                assertEquals(2 * round, callers.served.size)
                gate.open[round].complete(Unit)
                runCurrent()
            }
            assertEquals(listOf("0", "0", "1", "1", "2", "2"), callers.served)
            assertState(barrier, waiting = 1)
        }

    @Test
    fun arrive_onlyPartyWhileItsActionRuns_waitsForItsTurn() =
        runTest {
            val gate = Gate()
            val callers = Callers(this)
            val barrier = barrier(1, action = gate::run)
            repeat(3) { callers.call("$it") { barrier.arrive() } }
            assertState(barrier, waiting = 2)
            for (round in 0..2) {
                gate.open[round].complete(Unit)
                runCurrent()
                assertEquals(List(round + 1) { "$it" }, callers.served)
            }
            assertState(barrier, waiting = 0)
        }

    @Test
    fun cancel_oneOfThoseThatCameDuringTheAction_othersMoveUp() =
        runTest {
            val gate = Gate()
            val callers = Callers(this)
            val barrier = barrier(2, action = gate::run)
            val all = List(5) { i -> callers.call("$i") { barrier.arrive() } }
            all[2].cancel()
            gate.open[0].complete(Unit)
            runCurrent()
            assertEquals(2, gate.open.size)
            gate.open[1].complete(Unit)
            runCurrent()
            assertEquals(setOf("0", "1", "3", "4"), callers.served.toSet())
            assertState(barrier, waiting = 0)
        }

    @Test
    fun action_fails_thoseOfTheNextGenerationFailToo() =
        runTest {
            val gate = Gate()
            val barrier = barrier(2, action = gate::run)
            val callers = List(5) { Callers(this).call { barrier.arrive() } }
            gate.open[0].completeExceptionally(Oops())
            runCurrent()
            assertInstanceOf(Oops::class.java, callers[1].failure)
            for (i in listOf(0, 2, 3, 4)) assertTrue(assertBroken(callers[i]).causes().any { it is Oops })
            assertEquals(1, gate.open.size)
            assertState(barrier, waiting = 0, isBroken = true)
        }

    @Test
    fun cancel_breakingTheNextGeneration_leavesTheOneWhoseActionRuns() =
        runTest {
            val gate = Gate()
            val barrier = barrier(2, BREAK, action = gate::run)
            val first = List(2) { Callers(this).call { barrier.arrive() } }
            val next = List(2) { Callers(this).call { barrier.arrive() } }
            next[0].cancel()
            runCurrent()
            assertBroken(next[1])
            assertState(barrier, waiting = 1, isBroken = true)
            gate.open[0].complete(Unit)
            runCurrent()
            assertTrue(first.all { it.isServed })
            assertState(barrier, waiting = 0, isBroken = true)
        }

    @Test
    fun action_resetsItsOwnBarrier_isSkippedByItsPartiesAndLeavesItWhole() =
        runTest {
            var barrier: BarrierFace? = null
            var isFirst = true
            barrier = barrier(2) { if (isFirst) barrier!!.reset().also { isFirst = false } }
            val callers = List(2) { Callers(this).call { barrier.arrive() } }
            callers.forEach(::assertBroken)
            Callers(this).assertWhole(barrier)
        }
}
