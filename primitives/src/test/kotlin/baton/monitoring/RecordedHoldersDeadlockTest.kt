package baton.monitoring

import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.withRead
import baton.waiting.WaitCore
import baton.waiting.holders.LockLook
import baton.waiting.holders.holders
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** The holders that are recorded by each way of acquiring and of releasing. */
internal class RecordedHoldersDeadlockTest : KnownLocks() {
    private val mutex = Mutex()
    private val semaphore = Semaphore(1)
    private val lock = ReadWriteLock()

    private fun sole(core: WaitCore) = core.decide { core.holders?.sole }?.name

    private fun readers() = LockLook(lock.core).holds.filter { it.group == LockLook.READERS }.map { it.caller.name }

    private fun TestScope.named(name: String, block: suspend () -> Unit) {
        launch(CoroutineName(name)) { block() }
        runCurrent()
    }

    @Test
    fun mutex_handOver_namesTheNewHolder_andUnlockNone() = runTest {
        named("1") { mutex.lock() }
        assertEquals("1", sole(mutex.core))
        named("2") { mutex.lock() }
        mutex.unlock()
        assertEquals("2", sole(mutex.core))
        runCurrent()
        mutex.unlock()
        assertEquals(null, sole(mutex.core))
    }

    @Test
    fun mutex_grantToACancelledCoroutine_namesTheNextOne() = runTest {
        mutex.lock()
        val lost = launch(CoroutineName("lost")) { mutex.lock() }
        named("next") { mutex.lock() }
        mutex.unlock()
        assertEquals("lost", sole(mutex.core))
        lost.cancel()
        runCurrent()
        assertEquals("next", sole(mutex.core))
        mutex.unlock()
    }

    @Test
    fun mutex_takenByACallWithoutIdentity_namesNone() = runTest {
        named("1") { mutex.lock() }
        mutex.unlock()
        mutex.tryLock()
        assertEquals(null, sole(mutex.core))
        mutex.unlock()
    }

    @Test
    fun condition_await_passesTheNote_andTheSignalledOneGetsItBack() = runTest {
        val condition = mutex.newCondition()
        named("waiter") {
            mutex.lock()
            condition.await()
        }
        assertEquals(null, sole(mutex.core))
        named("signaller") {
            mutex.lock()
            condition.signal()
        }
        assertEquals("signaller", sole(mutex.core))
        mutex.unlock()
        assertEquals("waiter", sole(mutex.core))
        runCurrent()
        mutex.unlock()
    }

    @Test
    fun semaphore_ofOne_namesItsHolder() = runTest {
        named("1") { semaphore.acquire() }
        named("2") { semaphore.acquire() }
        assertEquals("1", sole(semaphore.core))
        semaphore.release()
        assertEquals("2", sole(semaphore.core))
        semaphore.release()
        assertEquals(null, sole(semaphore.core))
        assertEquals(1, semaphore.availablePermits)
    }

    @Test
    fun semaphore_resized_namesNone() = runTest {
        named("1") { semaphore.acquire() }
        semaphore.resize(2)
        assertEquals(null, sole(semaphore.core))
        named("2") { semaphore.acquire() }
        assertEquals(null, sole(semaphore.core))
        semaphore.release(2)
        assertEquals(2, semaphore.availablePermits)
    }

    @Test
    fun semaphore_closed_keepsTheNoteUntilTheRelease() = runTest {
        named("1") { semaphore.acquire() }
        semaphore.close()
        assertEquals("1", sole(semaphore.core))
        semaphore.release()
        assertEquals(null, sole(semaphore.core))
    }

    @Test
    fun lock_upgradeAndDowngrade_keepTheNote() = runTest {
        named("1") { lock.lockUpgradable() }
        assertEquals("1", sole(lock.core))
        lock.tryUpgrade()
        assertEquals("1", sole(lock.core))
        lock.downgrade()
        assertEquals(null, sole(lock.core))
        assertEquals(listOf("1"), readers())
        lock.unlockRead()
        assertEquals(emptyList<String>(), readers())
    }

    @Test
    fun lock_cancelledUpgrade_keepsTheUpgradableReader() = runTest {
        named("reader") { lock.lockRead() }
        val upgrading =
            launch(CoroutineName("1")) {
                lock.lockUpgradable()
                lock.upgrade()
            }
        runCurrent()
        lock.unlockRead()
        upgrading.cancel()
        runCurrent()
        assertEquals("1", sole(lock.core))
        lock.unlockUpgradable()
        assertEquals(null, sole(lock.core))
    }

    @Test
    fun lock_readersOfABatch_areNoted() = runTest {
        named("writer") { lock.lockWrite() }
        named("1") { lock.lockRead() }
        val owner = Any()
        named("2") { lock.lockRead(owner) }
        assertEquals(emptyList<String>(), readers())
        lock.unlockWrite()
        runCurrent()
        assertEquals(listOf("1", "2"), readers())
        lock.unlockRead(owner)
        assertEquals(listOf("1"), readers())
        lock.unlockRead()
        assertEquals(emptyList<String>(), readers())
    }

    /** Readers named 0 to 2, until their ends come. */
    private fun TestScope.threeReaders(owner: Any? = null): List<CompletableDeferred<Unit>> {
        val ends = List(3) { CompletableDeferred<Unit>() }
        ends.forEachIndexed { i, end -> named("$i") { lock.withRead(owner) { end.await() } } }
        return ends
    }

    private fun TestScope.endAll(ends: List<CompletableDeferred<Unit>>) {
        ends.forEach { it.complete(Unit) }
        runCurrent()
        assertEquals(emptyList<String>(), readers())
        assertEquals("ReadWriteLock (free, waiting = 0)", "$lock")
    }

    @Test
    fun withRead_tellsReadersApart() = runTest {
        val ends = threeReaders()
        ends[1].complete(Unit)
        runCurrent()
        assertEquals(listOf("0", "2"), readers())
        endAll(ends)
    }

    @Test
    fun withRead_ofOneOwner_tellsReadersApart() = runTest {
        val owner = Any()
        val ends = threeReaders(owner)
        named("3") { lock.lockRead(owner) }
        ends[1].complete(Unit)
        runCurrent()
        assertEquals(listOf("0", "2", "3"), readers())
        lock.unlockRead(owner)
        assertEquals(listOf("0", "2"), readers())
        endAll(ends)
    }

    @Test
    fun withRead_ofABatch_tellsReadersApart() = runTest {
        lock.tryLockWrite()
        val ends = threeReaders()
        lock.unlockWrite()
        runCurrent()
        ends[0].complete(Unit)
        runCurrent()
        assertEquals(listOf("1", "2"), readers())
        endAll(ends)
    }

    @Test
    fun unlockRead_byOneOfSeveralUnknown_forgetsThem() = runTest {
        named("1") { lock.lockRead() }
        named("2") { lock.lockRead() }
        lock.unlockRead()
        assertEquals(emptyList<String>(), readers())
        lock.unlockRead()
        assertEquals("ReadWriteLock (free, waiting = 0)", "$lock")
    }

    @Test
    fun unlockRead_whereAllAreOfOneCoroutine_removesOne() = runTest {
        withContext(CoroutineName("1")) {
            lock.lockRead()
            lock.lockRead()
            lock.unlockRead()
            assertEquals(listOf("1"), readers())
            lock.unlockRead()
        }
        assertEquals(emptyList<String>(), readers())
    }
}
