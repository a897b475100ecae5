package baton.sync.semaphore

import baton.sync.Semaphore
import baton.sync.SemaphoreClosedException
import baton.sync.assertState
import baton.waiting.Callers
import kotlinx.coroutines.selects.SelectBuilder
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** [Semaphore.onAcquire] with numbers, and in a `select` that cannot go on. The rest: SelectClausesTest. */
class SemaphoreSelectTest {
    @Test
    fun onAcquire_free_givesTheSemaphoreAndAsManyAsRequested() = runTest {
        val semaphore = Semaphore(5)
        val clause = semaphore.onAcquire
        assertSame(semaphore, select { semaphore.onAcquire { it } })
        assertSame(semaphore, select { semaphore.onAcquire(2) { it } })
        select { clause(null) {} }
        select { clause {} }
        assertState(semaphore, available = 0)
    }

    @Test
    fun onAcquire_twoNumbersOfOneSemaphore_firstThatFitsInTheQueueWins() = runTest {
        val light = Semaphore(3, acquired = 1)
        assertEquals(1, select { for (n in listOf(1, 3)) light.onAcquire(n) { n } })
        assertState(light, available = 1)
        // The light clause stands behind the heavy one, as any other caller would.
        for ((acquired, first) in listOf(1 to 3, 3 to 1)) {
            val semaphore = Semaphore(3, acquired)
            var won = 0
            Callers(this).call { select { for (n in listOf(first, 4 - first)) semaphore.onAcquire(n) { won = n } } }
            assertState(semaphore, available = 3 - acquired, waiting = 2)
            semaphore.release()
            runCurrent()
            assertEquals(first, won)
            assertState(semaphore, available = 0)
        }
    }

    @Test
    fun onAcquire_impossibleNumberOrClosed_throwsAndLeavesTheOtherClausesUnregistered() = runTest {
        val fine = Semaphore(1, acquired = 1)
        val small = Semaphore(2, acquired = 1)
        for (n in listOf(Int.MIN_VALUE, -1, 0, 3, Int.MAX_VALUE)) {
            assertThrows<IllegalArgumentException> { selectBetween(fine) { small.onAcquire(n) {} } }
        }
        small.close()
        assertThrows<SemaphoreClosedException> { selectBetween(fine) { small.onAcquire {} } }
        assertState(fine, available = 0)
        assertState(small, available = 1)
    }

    private suspend fun selectBetween(fine: Semaphore, register: SelectBuilder<Unit>.() -> Unit) =
        select<Unit> {
            fine.onAcquire {}
            register()
            fine.onAcquire {}
        }

    @Test
    fun onAcquire_closedOrTooHeavyWhileStillRegistering_throws() = runTest {
        val fine = Semaphore(1, acquired = 1)
        val semaphore = Semaphore(3, acquired = 3)
        assertThrows<IllegalArgumentException> {
            selectBetween(fine) {
                semaphore.onAcquire(3) {}
                semaphore.resize(2)
            }
        }
        assertThrows<SemaphoreClosedException> {
            selectBetween(fine) {
                semaphore.onAcquire {}
                semaphore.close()
            }
        }
        assertState(fine, available = 0)
        assertState(semaphore, available = 0)
    }

    @Test
    fun onAcquire_closedWhileWaiting_throwsAndLeavesTheOtherQueue() = runTest {
        val fine = Semaphore(1, acquired = 1)
        val closing = Semaphore(1, acquired = 1)
        val selector = Callers(this).call { selectBetween(fine) { closing.onAcquire {} } }
        closing.close()
        runCurrent()
        assertInstanceOf(SemaphoreClosedException::class.java, selector.failure)
        assertState(fine, available = 0)
    }
}
