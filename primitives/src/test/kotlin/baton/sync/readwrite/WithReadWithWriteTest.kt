package baton.sync.readwrite

import baton.NOW_OR_NEVER
import baton.sync.ReadWriteLock
import baton.sync.ReadWritePolicy
import baton.sync.semaphore.contract.DyingDispatcher
import baton.sync.withRead
import baton.sync.withWrite
import baton.waiting.Callers
import kotlin.time.Duration
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.advanceUntilIdle
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assertions.fail
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** A lock that is unlocked however the block ends; and the promises of a read-write lock's suspend functions alone. */
class WithReadWithWriteTest {
    private val lock = ReadWriteLock(name = "cache")

    private fun assertFree() = assertEquals("ReadWriteLock 'cache' (free, waiting = 0)", "$lock")

    @Test
    fun block_returns_unlocksAndReturnsItsValue() =
        runTest {
            assertEquals(1, lock.withRead { lock.readers })
            assertEquals(listOf("t1"), lock.withRead("t1") { lock.readHolders })
            assertEquals(true, lock.withWrite { lock.isWriteLocked })
            assertEquals("t1", lock.withWrite(owner = "t1") { lock.writeHolder })
            assertFree()
        }

    @Test
    fun block_throws_unlocksAndThrowsIt() =
        runTest {
            val failure = RuntimeException("from the block")
            assertSame(failure, assertThrows<RuntimeException> { lock.withRead("t1") { throw failure } })
            assertSame(failure, assertThrows<RuntimeException> { lock.withWrite { throw failure } })
            assertFree()
        }

    @Test
    fun block_isCancelledOrTimesOut_unlocks() =
        runTest {
            val reader = Callers(this).call { lock.withRead("t1") { awaitCancellation() } }
            reader.cancel()
            runCurrent()
            assertTrue(reader.isCancelled)
            assertNull(withTimeoutOrNull(10) { lock.withWrite("t1") { delay(20) } })
            assertFree()
        }

    @Test
    fun block_nonLocalReturn_unlocks() =
        runTest {
            assertEquals("written", findsInside())
            assertFree()
        }

    private suspend fun findsInside(): String {
        lock.withRead { if (lock.readers == 2) return "read" }
        lock.withWrite(owner = "t1") { if (lock.isWriteLocked) return "written" }
        return "not found"
    }

    @Test
    fun block_valueAssignedInside_isKnownToBeAssigned() =
        runTest {
            val read: Int
            val written: Int
            lock.withRead { read = 1 }
            lock.withWrite { written = 1 }
            assertEquals(read, written)
        }

    @Test
    fun block_wouldWaitForItself_doesNotRun() =
        runTest {
            lock.withRead("t1") { assertThrows<IllegalStateException> { lock.withWrite("t1") { fail("ran") } } }
            lock.withWrite("t1") { assertThrows<IllegalStateException> { lock.withRead("t1") { fail("ran") } } }
            assertFree()
        }

    @Test
    fun block_cancelledWhileWaitingOrBeforeItRan_doesNotRun() =
        runTest {
            lock.lockWrite()
            val waiters =
                listOf(
                    Callers(this).call { lock.withRead { fail("ran") } },
                    Callers(this).call { lock.withWrite { fail("ran") } },
                    Callers(this).call { lock.withRead { fail("ran") } },
                )
            waiters[2].cancel()
            lock.unlockWrite()
            waiters.forEach { it.cancel() }
            runCurrent()
            assertTrue(waiters.all { it.isCancelled })
            assertFree()
        }

    @Test
    fun blocks_manyThatSuspendInside_writersExcludeEverybodyAndReadersOnlyWriters() =
        runTest {
            for (policy in ReadWritePolicy.entries) {
                val lock = ReadWriteLock(policy)
                val start = currentTime
                var readers = 0
                var writers = 0
                repeat(100) { i ->
                    launch {
                        if (i % 10 == 0) {
                            lock.withWrite {
                                assertEquals("0 1", "$readers ${++writers}")
                                delay(10)
                                writers--
                            }
                        } else {
                            lock.withRead {
                                readers++
                                assertEquals(0, writers)
                                delay(10)
                                readers--
                            }
                        }
                    }
                }
                advanceUntilIdle()
                // Ten writers one by one, and at most as many batches of readers.
                assertTrue(currentTime - start in 110..200) { "$policy: ${currentTime - start}" }
            }
        }

    @Test
    fun timed_negative_isNowOrNotAtAll() =
        runTest {
            for (timeout in NOW_OR_NEVER) {
                assertTrue(lock.tryLockRead(timeout))
                assertFalse(lock.tryLockWrite(timeout))
                assertTrue(lock.tryLockUpgradable(timeout))
                assertFalse(lock.tryLockUpgradable(timeout))
                assertFalse(lock.tryUpgrade(timeout))
                assertEquals(2, lock.readers)
                lock.unlockRead()
                assertTrue(lock.tryUpgrade(timeout))
                assertFalse(lock.tryLockRead(timeout))
                lock.unlockWrite()
                assertTrue(lock.tryLockWrite(timeout))
                assertFalse(lock.tryLockWrite(timeout))
                assertEquals(0, lock.waiting)
                lock.unlockWrite()
            }
            assertEquals(0, currentTime)
        }

    @Test
    fun cancel_dispatcherThrows_placeInTheQueueIsGivenUp() =
        runTest {
            val dead = DyingDispatcher()
            lock.lockRead()
            val writer = Callers(this).callAtOnce("dead", dead) { lock.lockWrite() }
            val reader = Callers(this).call { lock.lockRead() }
            dead.isDead = true
            writer.cancel()
            assertEquals(0, lock.waiting)
            runCurrent()
            assertTrue(reader.isServed)
        }
}
