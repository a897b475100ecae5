package baton.sync.countdown

import baton.sync.Latch
import baton.sync.WaitGroup
import baton.waiting.Callers
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** [Latch.onAwait] and [WaitGroup.onAwait] beside other clauses of one `select`. */
class CountdownSelectTest {
    @Test
    fun onAwait_besideAChannel_loserLeavesTheQueue() =
        runTest {
            val latch = Latch(1)
            val channel = Channel<Int>(1)
            val selector =
                Callers(this).call {
                    select {
                        latch.onAwait { }
                        channel.onReceive { }
                    }
                }
            assertEquals(1, latch.waiting)
            channel.send(1)
            runCurrent()
            assertTrue(selector.isServed)
            assertEquals(0, latch.waiting)
        }

    @Test
    fun onAwait_severalInOneSelect_firstToOpenWins() =
        runTest {
            val latches = List(3) { Latch(1) }
            val group = waitGroup(1)
            var won: Any? = null
            Callers(this).call {
                won =
                    select {
                        for (latch in latches + latches[0]) latch.onAwait { latch }
                        group.onAwait { group }
                    }
            }
            latches[1].countDown()
            group.done()
            latches[0].countDown()
            runCurrent()
            assertEquals(latches[1], won)
            assertEquals(0, latches.sumOf { it.waiting } + group.waiting)
        }

    @Test
    fun onAwait_openedWhileStillRegistering_wins() =
        runTest {
            val latch = Latch(1)
            val won =
                select {
                    latch.onAwait { "latch" }
                    latch.countDown()
                }
            assertEquals("latch", won)
        }

    /** kotlinx registers the clause again, and by then the zero it had waited for was over. */
    @Test
    fun onAwait_zeroIsOverWhileStillRegistering_winsAllTheSame() =
        runTest {
            val group = waitGroup(1)
            val selector =
                Callers(this).callAtOnce {
                    select {
                        group.onAwait { }
                        assertEquals(1, group.waiting)
                        group.done()
                        group.add()
                    }
                }
            assertTrue(selector.isServed)
            assertEquals(1, group.count)
            assertEquals(0, group.waiting)
        }

    @Test
    fun onAwait_sameClauseInAnotherSelect_waitsForItsOwnZero() =
        runTest {
            val group = waitGroup(1)
            val clause = group.onAwait
            Callers(this).callAtOnce {
                select {
                    clause { }
                    group.done()
                    group.add()
                }
            }
            val again = Callers(this).call { select { clause { } } }
            assertTrue(again.isWaiting)
            group.done()
            runCurrent()
            assertTrue(again.isServed)
        }

    @Test
    fun onAwait_zeroWhileStillRegisteringAndAnotherClauseWins_leavesNothing() =
        runTest {
            val group = waitGroup(1)
            val won =
                select {
                    group.onAwait { "group" }
                    CompletableDeferred(Unit).onAwait { "deferred" }
                    group.done()
                    group.add()
                }
            assertEquals("deferred", won)
            assertEquals(0, group.waiting)
        }

    @Test
    fun onAwait_cancelledBetweenZeroAndResumption_throwsAndChangesNothing() =
        runTest {
            val latch = Latch(1)
            val selector =
                Callers(this).call {
                    select {
                        latch.onAwait { }
                        onTimeout(100) { }
                    }
                }
            latch.countDown()
            selector.cancel()
            runCurrent()
            assertTrue(selector.isCancelled)
            assertFalse(selector.isServed)
            assertEquals(0, latch.count)
        }
}
