package baton.sync.mutex

import baton.sync.Mutex
import baton.sync.Semaphore
import baton.waiting.Callers
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** [Mutex.onLock] beside other clauses of one `select`. */
class MutexSelectTest {
    @Test
    fun onLock_free_winsAtOnceAndGivesTheMutex() =
        runTest {
            val mutex = Mutex()
            assertSame(mutex, select { mutex.onLock { it } })
            assertTrue(mutex.isLocked)
            assertNull(mutex.holder)
            mutex.unlock()
            select { mutex.onLock("t1") { } }
            assertEquals("t1", mutex.holder)
        }

    @Test
    fun onLock_besideAChannel_loserLeavesTheQueue() =
        runTest {
            val mutex = Mutex(locked = true)
            val channel = Channel<Int>(1)
            val selector =
                Callers(this).call {
                    select {
                        mutex.onLock { }
                        channel.onReceive { }
                    }
                }
            assertEquals(1, mutex.waiting)
            channel.send(1)
            runCurrent()
            assertTrue(selector.isServed)
            assertEquals(0, mutex.waiting)
            mutex.unlock()
            assertFalse(mutex.isLocked)
        }

    @Test
    fun onLock_twoMutexesCrossing_bothSelectsAreServed() =
        runTest {
            val callers = Callers(this)
            val one = Mutex(locked = true)
            val two = Mutex(locked = true)
            for ((name, pair) in listOf("a" to (one to two), "b" to (two to one))) {
                callers.call(name) {
                    select {
                        pair.first.onLock(name) { }
                        pair.second.onLock(name) { }
                    }
                }
            }
            one.unlock()
            two.unlock()
            runCurrent()
            assertEquals(setOf("a", "b"), callers.served.toSet())
            assertEquals(setOf<Any?>("a", "b"), setOf(one.holder, two.holder))
            assertEquals(0, one.waiting + two.waiting)
        }

    @Test
    fun onLock_ownerHoldsItAlready_throwsAndLeavesTheOtherClausesUnregistered() =
        runTest {
            val mutex = Mutex()
            val other = Mutex(locked = true)
            mutex.lock("t1")
            assertThrows<IllegalStateException> {
                select {
                    other.onLock { }
                    mutex.onLock("t1") { }
                }
            }
            assertEquals(0, other.waiting)
            assertEquals("t1", mutex.holder)
        }

    @Test
    fun onLock_unlockedWhileStillRegistering_wins() =
        runTest {
            val mutex = Mutex(locked = true)
            val won =
                select {
                    mutex.onLock("t1") { "mutex" }
                    mutex.unlock()
                }
            assertEquals("mutex", won)
            assertEquals("t1", mutex.holder)
        }

    @Test
    fun onLock_unlockedWhileStillRegisteringAndAnotherClauseWins_isFree() =
        runTest {
            val mutex = Mutex(locked = true)
            select {
                mutex.onLock("t1") { }
                CompletableDeferred(Unit).onAwait { }
                mutex.unlock()
            }
            assertFalse(mutex.isLocked)
            assertNull(mutex.holder)
        }

    @Test
    fun onLock_cancelledBetweenHandOverAndResumption_isUndone() =
        runTest {
            val mutex = Mutex(locked = true)
            val selector =
                Callers(this).call {
                    select {
                        mutex.onLock("t1") { }
                        onTimeout(100) { }
                    }
                }
            mutex.unlock()
            assertEquals("t1", mutex.holder)
            selector.cancel()
            runCurrent()
            assertTrue(selector.isCancelled)
            assertFalse(mutex.isLocked)
        }

    @Test
    fun onLock_besideOnAcquire_oneOfThemWins() =
        runTest {
            val mutex = Mutex(locked = true)
            val semaphore = Semaphore(1, acquired = 1)
            var won: String? = null
            Callers(this).call {
                select {
                    mutex.onLock { won = "mutex" }
                    semaphore.onAcquire { won = "semaphore" }
                }
            }
            semaphore.release()
            mutex.unlock()
            runCurrent()
            assertEquals("semaphore", won)
            assertFalse(mutex.isLocked)
            assertEquals(0, mutex.waiting)
        }
}
