package baton.sync.countdown

import baton.sync.Latch
import baton.sync.WaitGroup
import baton.waiting.Callers
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** [Latch.onAwait] and [WaitGroup.onAwait] beside other clauses of one `select`. */
class CountdownSelectTest {
    /** kotlinx registers the clause again, and by then the zero it had waited for was over. */
    @Test
    fun onAwait_zeroIsOverWhileStillRegistering_winsAllTheSame() = runTest {
        val group = waitGroup(1)
        val selector =
            Callers(this).callAtOnce {
                select {
                    group.onAwait {}
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
    fun onAwait_sameClauseInAnotherSelect_waitsForItsOwnZero() = runTest {
        val group = waitGroup(1)
        val clause = group.onAwait
        Callers(this).callAtOnce {
            select {
                clause {}
                group.done()
                group.add()
            }
        }
        val again = Callers(this).call { select { clause {} } }
        assertTrue(again.isWaiting)
        group.done()
        runCurrent()
        assertTrue(again.isServed)
    }

    @Test
    fun onAwait_zeroWhileStillRegisteringAndAnotherClauseWins_leavesNothing() = runTest {
        val group = waitGroup(1)
        val won = select {
            group.onAwait { "group" }
            CompletableDeferred(Unit).onAwait { "deferred" }
            group.done()
            group.add()
        }
        assertEquals("deferred", won)
        assertEquals(0, group.waiting)
    }

    /** The first select is granted while it registers; the second joins before the first registers its clause again. */
    @Test
    fun onAwait_oneClauseInTwoSelects_neitherMissesTheZero() = runTest {
        val group = WaitGroup().apply { add() }
        val clause = group.onAwait
        val never = Latch(1)
        var letIn = 0
        val first = launch {
            select<Unit> {
                clause { letIn++ }
                never.onAwait {}
                group.done()
                group.add()
                launch(start = CoroutineStart.UNDISPATCHED) { select<Unit> { clause { letIn++ } } }
            }
        }
        runCurrent()
        assertTrue(first.isCompleted || letIn == 1)
        assertEquals(1, letIn)
        group.done()
        runCurrent()
        assertEquals(2, letIn)
        assertEquals(0, never.waiting)
    }
}
