package baton.sync.readwrite.contract

import baton.sync.ReadWritePolicy
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.sync.readwrite.assertFree
import baton.waiting.Callers
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A cancelled caller throws and holds nothing, at whatever moment. The requests it held back are admitted at once. */
interface ReadWriteCancellation : ReadWriteFixture {
    @Test
    fun cancel_onlyWaiter_throwsAndLeavesNothing() =
        runTest {
            for (access in Access.entries) {
                for (owner in listOf(null, "t1")) {
                    val lock = lock()
                    lock.lockWrite()
                    val waiter = Callers(this).call { access.lock(lock, owner) }
                    waiter.cancel()
                    assertState(lock, written = true)
                    runCurrent()
                    assertTrue(waiter.isCancelled)
                    lock.unlockWrite()
                    assertFree(lock)
                }
            }
        }

    @Test
    fun cancel_anyOneOfFiveWriters_keepsTheOrderOfTheOthers() =
        runTest {
            for (leaver in 0..4) {
                val callers = Callers(this)
                val lock = lock()
                lock.lockWrite()
                val waiters = List(5) { i -> callers.call("$i") { lock.lockWrite() } }
                waiters[leaver].cancel()
                assertState(lock, written = true, waiting = 4)
                repeat(5) {
                    lock.unlockWrite()
                    runCurrent()
                }
                assertEquals((0..4).filter { it != leaver }.map { "$it" }, callers.served)
                assertFree(lock)
            }
        }

    @Test
    fun cancel_anyOneOfFiveReaders_theOthersComeInAndItIsNotCounted() =
        runTest {
            for (leaver in 0..4) {
                val callers = Callers(this)
                val lock = lock()
                lock.lockWrite()
                val waiters = List(5) { i -> callers.call("$i") { lock.lockRead() } }
                waiters[leaver].cancel()
                assertState(lock, written = true, waiting = 4)
                lock.unlockWrite()
                assertState(lock, readers = 4)
                runCurrent()
                assertEquals((0..4).filter { it != leaver }.map { "$it" }, callers.served)
                repeat(4) { lock.unlockRead() }
                assertFree(lock)
            }
        }

    /** rustfs #2795. */
    @Test
    fun cancel_onlyWriterThatWaits_letsInTheReadersItHeldBack() =
        runTest {
            for (policy in listOf(ReadWritePolicy.PHASE_FAIR, ReadWritePolicy.WRITER_FIRST)) {
                val lock = lock(policy)
                lock.lockRead()
                val writer = Callers(this).call { lock.lockWrite() }
                val readers = List(3) { Callers(this).call { lock.lockRead() } }
                val upgradable = Callers(this).call { lock.lockUpgradable() }
                assertState(lock, readers = 1, waiting = 5)
                writer.cancel()
                assertState(lock, readers = 5)
                runCurrent()
                assertTrue(readers.all { it.isServed } && upgradable.isServed)
                assertTrue(lock.tryLockRead())
            }
        }

    @Test
    fun cancel_oneWriterOfTwo_readersWaitForTheOther() =
        runTest {
            for (first in 0..1) {
                val lock = lock()
                lock.lockRead()
                val writers = List(2) { Callers(this).call { lock.lockWrite() } }
                val reader = Callers(this).call { lock.lockRead() }
                writers[first].cancel()
                runCurrent()
                assertTrue(reader.isWaiting)
                assertState(lock, readers = 1, waiting = 2)
                writers[1 - first].cancel()
                runCurrent()
                assertTrue(reader.isServed)
                assertState(lock, readers = 2)
            }
        }

    @Test
    fun cancel_writerBehindAnUpgradableOne_letsReadersIn() =
        runTest {
            val lock = lock()
            lock.lockUpgradable()
            val upgradable = Callers(this).call { lock.lockUpgradable() }
            val writer = Callers(this).call { lock.lockWrite() }
            val reader = Callers(this).call { lock.lockRead() }
            assertTrue(reader.isWaiting)
            writer.cancel()
            runCurrent()
            assertTrue(reader.isServed && upgradable.isWaiting)
            assertState(lock, readers = 2, waiting = 1)
        }

    @Test
    fun cancel_upgradableOneBeforeAWriter_writerComesInWhenItCan() =
        runTest {
            val lock = lock()
            lock.lockUpgradable()
            val upgradable = Callers(this).call { lock.lockUpgradable() }
            val writer = Callers(this).call { lock.lockWrite() }
            upgradable.cancel()
            assertState(lock, readers = 1, waiting = 1)
            lock.unlockUpgradable()
            runCurrent()
            assertTrue(writer.isServed)
        }

    @Test
    fun cancel_handedOverButNotRunYet_passesItOn() =
        runTest {
            for (access in Access.entries) {
                for (next in Access.entries) {
                    for (owner in listOf(null, "t1")) {
                        val lock = lock()
                        lock.lockWrite()
                        val granted = Callers(this).call { access.lock(lock, owner) }
                        val other = Callers(this).call { next.lock(lock, owner) }
                        lock.unlockWrite()
                        granted.cancel()
                        runCurrent()
                        assertTrue(granted.isCancelled)
                        assertTrue(other.isServed) { "$access, then $next: $lock" }
                        next.unlock(lock, owner)
                        assertFree(lock)
                    }
                }
            }
        }

    @Test
    fun cancel_handedOverButNotRunYet_lockIsElsewhereBeforeItThrows() =
        runTest {
            val lock = lock()
            lock.lockWrite()
            var seen: String? = null
            val granted =
                Callers(this).call {
                    try {
                        lock.lockWrite("a")
                    } catch (e: CancellationException) {
                        seen = "${lock.writeHolder}, waiting = ${lock.waiting}"
                        throw e
                    }
                }
            Callers(this).call { lock.lockWrite("b") }
            Callers(this).call { lock.lockWrite("c") }
            lock.unlockWrite()
            granted.cancel()
            runCurrent()
            assertEquals("b, waiting = 1", seen)
        }

    @Test
    fun cancel_someOfACrowdLetIn_theOthersReadAndTheWriterWaitsForThemOnly() =
        runTest {
            for (owner in listOf(null, "t1")) {
                val callers = Callers(this)
                val lock = lock()
                lock.lockWrite()
                val readers = List(10) { i -> callers.call("$i") { lock.lockRead(owner) } }
                val writer = callers.call("writer") { lock.lockWrite() }
                lock.unlockWrite()
                for (i in 0..9 step 2) readers[i].cancel()
                runCurrent()
                assertEquals((1..9 step 2).map { "$it" }, callers.served)
                assertState(lock, readers = 5, waiting = 1)
                repeat(5) {
                    assertTrue(writer.isWaiting)
                    lock.unlockRead(owner)
                    runCurrent()
                }
                assertTrue(writer.isServed)
                lock.unlockWrite()
                assertFree(lock)
            }
        }

    @Test
    fun cancel_wholeCrowdLetIn_writerComesIn() =
        runTest {
            for (owner in listOf(null, "t1")) {
                val lock = lock()
                lock.lockWrite()
                val readers = List(10) { Callers(this).call { lock.lockRead(owner) } }
                val writer = Callers(this).call { lock.lockWrite() }
                lock.unlockWrite()
                readers.forEach { it.cancel() }
                runCurrent()
                assertTrue(readers.all { it.isCancelled } && writer.isServed)
                assertState(lock, written = true)
            }
        }

    @Test
    fun cancel_byAReaderOfTheSameCrowd_theCancelledOneIsNotIn() =
        runTest {
            val callers = Callers(this)
            val lock = lock()
            lock.lockWrite()
            lateinit var victim: () -> Unit
            callers.call("a") {
                lock.lockRead()
                victim()
            }
            victim = callers.call("b") { lock.lockRead() }::cancel
            callers.call("c") { lock.lockRead() }
            lock.unlockWrite()
            runCurrent()
            assertEquals(listOf("a", "c"), callers.served)
            assertState(lock, readers = 2)
        }

    @Test
    fun cancel_writersHandedOverInARow_lastOneGetsIt() =
        runTest {
            val callers = Callers(this)
            val lock = lock()
            lock.lockWrite()
            val writers = List(3) { i -> callers.call("$i") { lock.lockWrite() } }
            lock.unlockWrite()
            writers[0].cancel()
            writers[1].cancel()
            runCurrent()
            assertEquals(listOf("2"), callers.served)
            assertState(lock, written = true)
        }

    @Test
    fun cancel_holder_keepsTheLock() =
        runTest {
            for (access in Access.entries) {
                val lock = lock()
                lock.lockWrite()
                val holder = Callers(this).call { access.lock(lock) }
                lock.unlockWrite()
                runCurrent()
                holder.cancel()
                runCurrent()
                assertTrue(holder.isServed)
                assertState(lock, access.readers, written = access == Access.WRITE)
            }
        }

    @Test
    fun lock_alreadyCancelledAndFree_succeeds() =
        runTest {
            for (access in Access.entries) {
                for (owner in listOf(null, "t1")) {
                    val lock = lock()
                    val caller =
                        Callers(this).call {
                            currentCoroutineContext().job.cancel()
                            access.lock(lock, owner)
                        }
                    assertTrue(caller.isServed)
                    access.unlock(lock, owner)
                    assertFree(lock)
                }
            }
        }

    @Test
    fun lock_alreadyCancelledAndMustWait_throwsAndLeavesNothing() =
        runTest {
            for (access in Access.entries) {
                for (owner in listOf(null, "t1")) {
                    val lock = lock()
                    lock.lockWrite()
                    val caller =
                        Callers(this).call {
                            currentCoroutineContext().job.cancel()
                            access.lock(lock, owner)
                        }
                    assertTrue(caller.isCancelled)
                    assertState(lock, written = true)
                    lock.unlockWrite()
                    assertFree(lock)
                }
            }
        }

    @Test
    fun lock_nonCancellable_waitsOnAndIsServed() =
        runTest {
            for (access in Access.entries) {
                val lock = lock()
                lock.lockWrite()
                val caller = Callers(this).call { withContext(NonCancellable) { access.lock(lock) } }
                caller.cancel()
                runCurrent()
                assertTrue(caller.isWaiting)
                assertState(lock, written = true, waiting = 1)
                lock.unlockWrite()
                runCurrent()
                access.unlock(lock)
                assertFree(lock)
            }
        }

    @Test
    fun lock_withinWithTimeout_leavesTheQueue() =
        runTest {
            for (access in Access.entries) {
                val lock = lock()
                lock.lockWrite()
                assertNull(withTimeoutOrNull(50) { access.lock(lock) })
                assertState(lock, written = true)
                lock.unlockWrite()
                assertFree(lock)
            }
        }

    @Test
    fun tryLockWrite_whileACancelledReaderIsStillCounted_isRefused() =
        runTest {
            val lock = lock()
            lock.lockWrite()
            val granted = Callers(this).call { lock.lockRead() }
            lock.unlockWrite()
            granted.cancel()
            assertFalse(lock.tryLockWrite() && lock.tryLockWrite())
            runCurrent()
            assertTrue(granted.isCancelled)
        }
}
