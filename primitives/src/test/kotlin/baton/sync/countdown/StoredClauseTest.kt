package baton.sync.countdown

import baton.sync.Latch
import baton.sync.WaitGroup
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class StoredClauseTest {
    /** The first select is granted while it registers; the second joins before the first registers its clause again. */
    @Test
    fun onAwait_oneClauseInTwoSelects_neitherMissesTheZero() =
        runTest {
            val group = WaitGroup().apply { add() }
            val clause = group.onAwait
            val never = Latch(1)
            var letIn = 0
            val first =
                launch {
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
