package baton.sync.semaphore

import baton.sync.Semaphore
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.waiting.Callers
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.selects.selectUnbiased
import kotlinx.coroutines.selects.whileSelect
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** [Semaphore.onAcquire] beside other clauses of one `select`. */
class SemaphoreSelectTest {
    @Test
    fun onAcquire_free_winsAtOnceAndGivesTheSemaphore() =
        runTest {
            val semaphore = Semaphore(3)
            assertSame(semaphore, select { semaphore.onAcquire { it } })
            assertSame(semaphore, select { semaphore.onAcquire(2) { it } })
            assertState(semaphore, available = 0)
        }

    @Test
    fun onAcquire_nullForTheNumber_isOne() =
        runTest {
            val semaphore = Semaphore(3)
            select { semaphore.onAcquire(null) { } }
            assertState(semaphore, available = 2)
        }

    @Test
    fun onAcquire_lightClauseBeforeHeavyOne_winsAtOnce() =
        runTest {
            val semaphore = Semaphore(3, acquired = 1)
            val won =
                select {
                    semaphore.onAcquire { "one" }
                    semaphore.onAcquire(3) { "three" }
                }
            assertEquals("one", won)
            assertState(semaphore, available = 1)
        }

    @Test
    fun onAcquire_heavyClauseBeforeLightOne_lightOneStandsBehindItAsAnybodyWould() =
        runTest {
            val semaphore = Semaphore(3, acquired = 1)
            var won: String? = null
            Callers(this).call {
                select {
                    semaphore.onAcquire(3) { won = "three" }
                    semaphore.onAcquire { won = "one" }
                }
            }
            assertState(semaphore, available = 2, waiting = 2)
            semaphore.release()
            runCurrent()
            assertEquals("three", won)
            assertState(semaphore, available = 0)
        }

    @Test
    fun onAcquire_twoClausesBothWait_headWinsAndTheOtherLeaves() =
        runTest {
            val semaphore = Semaphore(3, acquired = 3)
            var won: String? = null
            Callers(this).call {
                select {
                    semaphore.onAcquire { won = "one" }
                    semaphore.onAcquire(3) { won = "three" }
                }
            }
            assertState(semaphore, available = 0, waiting = 2)
            semaphore.release()
            runCurrent()
            assertEquals("one", won)
            assertState(semaphore, available = 0, waiting = 0)
        }

    @Test
    fun onAcquire_besideAReadyClause_registersNothing() =
        runTest {
            val semaphore = Semaphore(1, acquired = 1)
            val ready = CompletableDeferred(1)
            val won =
                select {
                    semaphore.onAcquire { "permit" }
                    ready.onAwait { "ready" }
                }
            assertEquals("ready", won)
            assertState(semaphore, available = 0)
        }

    @Test
    fun onAcquire_winsBeforeAReadyClause_leavesThatAlone() =
        runTest {
            val semaphore = Semaphore(1)
            val channel = Channel<Int>(1).also { it.trySend(7) }
            val won =
                select {
                    semaphore.onAcquire { "permit" }
                    channel.onReceive { "element" }
                }
            assertEquals("permit", won)
            assertEquals(7, channel.tryReceive().getOrNull())
        }

    @Test
    fun onAcquire_besideAChannel_loserLeavesTheQueue() =
        runTest {
            val callers = Callers(this)
            val semaphore = Semaphore(2, acquired = 1)
            val channel = Channel<Int>()
            val selector =
                callers.call("selector") {
                    select {
                        semaphore.onAcquire(2) { }
                        channel.onReceive { }
                    }
                }
            callers.call("behind") { semaphore.acquire() }
            assertState(semaphore, available = 1, waiting = 2)
            channel.send(1)
            runCurrent()
            assertTrue(selector.isServed)
            assertTrue("behind" in callers.served)
            assertState(semaphore, available = 0)
        }

    @Test
    fun onAcquire_wins_channelLosesNoElement() =
        runTest {
            val semaphore = Semaphore(1, acquired = 1)
            val channel = Channel<Int>()
            val selector =
                Callers(this).call {
                    select {
                        semaphore.onAcquire { }
                        channel.onReceive { }
                    }
                }
            semaphore.release()
            assertTrue(channel.trySend(1).isFailure)
            runCurrent()
            assertTrue(selector.isServed)
            assertState(semaphore, available = 0)
        }

    @Test
    fun onAcquire_releaseAndSendInOneStep_onlyOneWinsAndNothingIsLost() =
        runTest {
            for (permitFirst in listOf(true, false)) {
                val semaphore = Semaphore(1, acquired = 1)
                val channel = Channel<Int>()
                var won: String? = null
                Callers(this).call {
                    select {
                        semaphore.onAcquire { won = "permit" }
                        channel.onReceive { won = "element" }
                    }
                }
                if (permitFirst) semaphore.release()
                val sent = channel.trySend(1).isSuccess
                if (!permitFirst) semaphore.release()
                runCurrent()
                assertEquals(if (permitFirst) "permit" else "element", won)
                assertEquals(!permitFirst, sent)
                assertState(semaphore, available = if (permitFirst) 0 else 1)
            }
        }

    @Test
    fun onAcquire_besideOnTimeout_timeoutLeavesTheQueue() =
        runTest {
            val semaphore = Semaphore(1, acquired = 1)
            val won =
                select {
                    semaphore.onAcquire { "permit" }
                    onTimeout(50) { "late" }
                }
            assertEquals("late", won)
            assertEquals(50, currentTime)
            assertState(semaphore, available = 0)
        }

    @Test
    fun onAcquire_besideOnJoin_bothWays() =
        runTest {
            for (jobEnds in listOf(true, false)) {
                val semaphore = Semaphore(1, acquired = 1)
                val job = backgroundScope.launch { CompletableDeferred<Unit>().await() }
                var won: String? = null
                Callers(this).call {
                    select {
                        job.onJoin { won = "job" }
                        semaphore.onAcquire { won = "permit" }
                    }
                }
                if (jobEnds) job.cancel() else semaphore.release()
                runCurrent()
                assertEquals(if (jobEnds) "job" else "permit", won)
                assertState(semaphore, available = 0, waiting = 0)
            }
        }

    @Test
    fun onAcquire_selectUnbiased_takesFromEither() =
        runTest {
            val semaphores = List(2) { Semaphore(1) }
            val won = List(2) { selectUnbiased { for (semaphore in semaphores) semaphore.onAcquire { it } } }
            assertEquals(semaphores.toSet(), won.toSet())
            for (semaphore in semaphores) assertState(semaphore, available = 0)
        }

    @Test
    fun onAcquire_whileSelect_mayBeUsedInALoop() =
        runTest {
            val semaphore = Semaphore(5)
            var taken = 0
            whileSelect {
                semaphore.onAcquire { ++taken < 5 }
            }
            assertState(semaphore, available = 0)
        }

    @Test
    fun onAcquire_clauseReadOnceAndUsedInTwoSelects_worksInBoth() =
        runTest {
            val semaphore = Semaphore(2)
            val clause = semaphore.onAcquire
            select { clause { } }
            select { clause(1) { } }
            assertState(semaphore, available = 0)
        }

    @Test
    fun onAcquire_cancelledWhileWaiting_leavesBothQueues() =
        runTest {
            val one = Semaphore(1, acquired = 1)
            val two = Semaphore(2, acquired = 1)
            val selector =
                Callers(this).call {
                    select {
                        one.onAcquire { }
                        two.onAcquire(2) { }
                    }
                }
            val small = Callers(this).call { two.acquire() }
            selector.cancel()
            runCurrent()
            assertTrue(selector.isCancelled)
            assertTrue(small.isServed)
            assertState(one, available = 0)
            assertState(two, available = 0)
        }

    @Test
    fun onAcquire_cancelledBetweenGrantAndResumption_isUndone() =
        runTest {
            val semaphore = Semaphore(2, acquired = 2)
            val other = Semaphore(1, acquired = 1)
            val selector =
                Callers(this).call {
                    select {
                        semaphore.onAcquire(2) { }
                        other.onAcquire { }
                    }
                }
            val next = List(2) { Callers(this).call { semaphore.acquire() } }
            semaphore.release(2)
            selector.cancel()
            runCurrent()
            assertTrue(selector.isCancelled)
            assertTrue(next.all { it.isServed })
            assertState(semaphore, available = 0)
            assertState(other, available = 0)
        }

    @Test
    fun onAcquire_bothSemaphoresReleaseInOneStep_loserKeepsItsPermit() =
        runTest {
            val one = Semaphore(1, acquired = 1)
            val two = Semaphore(1, acquired = 1)
            val callers = Callers(this)
            callers.call("selector") {
                select {
                    one.onAcquire { }
                    two.onAcquire { }
                }
            }
            callers.call("next") { two.acquire() }
            one.release()
            two.release()
            runCurrent()
            assertEquals(setOf("selector", "next"), callers.served.toSet())
            assertState(one, available = 0)
            assertState(two, available = 0)
        }

    @Test
    fun onAcquire_twoSelectsCrossing_bothAreServed() =
        runTest {
            val callers = Callers(this)
            val one = Semaphore(1, acquired = 1)
            val two = Semaphore(1, acquired = 1)
            callers.call("a") {
                select {
                    one.onAcquire { }
                    two.onAcquire { }
                }
            }
            callers.call("b") {
                select {
                    two.onAcquire { }
                    one.onAcquire { }
                }
            }
            assertEquals(2 to 2, one.waiting to two.waiting)
            one.release()
            two.release()
            runCurrent()
            assertEquals(setOf("a", "b"), callers.served.toSet())
            assertState(one, available = 0)
            assertState(two, available = 0)
        }

    @Test
    fun onAcquire_blockThrows_permitStaysWithTheCaller() =
        runTest {
            val semaphore = Semaphore(1)
            assertThrows<IllegalStateException> { select { semaphore.onAcquire { error("in the block") } } }
            assertState(semaphore, available = 0)
            semaphore.release()
            assertState(semaphore, available = 1)
        }

    @Test
    fun onAcquire_blockSuspends_holdsThePermitMeanwhile() =
        runTest {
            val semaphore = Semaphore(1)
            val gate = CompletableDeferred<Unit>()
            val selector =
                Callers(this).call {
                    select {
                        semaphore.onAcquire {
                            gate.await()
                            it.release()
                        }
                    }
                }
            assertState(semaphore, available = 0)
            gate.complete(Unit)
            runCurrent()
            assertTrue(selector.isServed)
            assertState(semaphore, available = 1)
        }

    @Test
    fun onAcquire_losesManyTimes_leavesNothingBehind() =
        runTest {
            val semaphore = Semaphore(1, acquired = 1)
            repeat(1000) {
                select {
                    semaphore.onAcquire { }
                    onTimeout(1) { }
                }
            }
            assertState(semaphore, available = 0)
            advanceTimeBy(10)
            semaphore.release()
            assertState(semaphore, available = 1)
        }
}
