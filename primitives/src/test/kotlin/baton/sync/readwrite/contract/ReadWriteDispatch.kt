package baton.sync.readwrite.contract

import baton.sync.ReadWritePolicy
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.sync.readwrite.assertFree
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Coroutines in uncommon worlds: no dispatcher, a dispatcher that runs at once, one that does not run at all. */
interface ReadWriteDispatch : ReadWriteFixture {
    private fun start(block: suspend () -> Unit) {
        block.startCoroutine(Continuation(EmptyCoroutineContext) { it.getOrThrow() })
    }

    @Test
    fun unlockWrite_noJobAndNoDispatcher_leaverResumesTheWholeCrowd() = runTest {
        val lock = lock()
        val served = mutableListOf<Int>()
        lock.lockWrite()
        for (i in 0..99) {
            start {
                lock.lockRead()
                served += i
                assertEquals(100 - i, lock.readers)
                lock.unlockRead()
            }
        }
        start {
            lock.lockWrite()
            served += 100
        }
        lock.unlockWrite()
        assertEquals((0..100).toList(), served)
        assertState(lock, written = true)
    }

    @Test
    fun unlockWrite_noDispatcherAndEachLeavesAtOnce_runsTheWholeQueue() = runTest {
        for (policy in ReadWritePolicy.entries) {
            val lock = lock(policy)
            var served = 0
            lock.lockWrite()
            repeat(100) { i ->
                val access = Access.entries[i % 3]
                start {
                    access.lock(lock)
                    served++
                    access.unlock(lock)
                }
            }
            lock.unlockWrite()
            assertEquals(100, served)
            assertFree(lock)
        }
    }
}
