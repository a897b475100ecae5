package baton.waiting.holders

import baton.Priority
import baton.Priority.CRITICAL
import baton.Priority.HIGH
import baton.Priority.LOW
import baton.Priority.NORMAL
import baton.reportingTo
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.withRead
import java.util.concurrent.TimeUnit
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Job
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.launch
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The boosts that a lock requests, and the outcome of other events while it requests them. */
class PriorityInheritanceTest {
    private val boosted = Boosted()
    private val boosting = boosted.dispatcher
    private val mutex = Mutex()
    private val owner = Any()

    private val levels
        get() = boosting.lifted.map { it.first }

    @AfterEach
    fun end() {
        boosted.close()
    }

    private fun lock(level: Priority): Job = boosted.launch(level) { mutex.lock() }

    @Test
    fun boost_afterTheHolderHasLeft_isEndedAtOnce() {
        lock(LOW)
        boosting.meanwhile = mutex::unlock
        lock(CRITICAL)
        assertEquals(emptyList<Priority>(), levels)
        assertEquals(1, boosting.boosts.availablePermits())
        mutex.unlock()
        assertNull(mutex.core.holders?.sole)
    }

    @Test
    fun boost_whileAnotherIsRequested_isReplacedAtOnce() {
        lock(LOW)
        boosting.meanwhile = { lock(CRITICAL) }
        lock(NORMAL)
        assertEquals(listOf(CRITICAL), levels)
        boosting.meanwhile = {
            mutex.unlock()
            lock(HIGH)
        }
        mutex.unlock()
        mutex.unlock()
        mutex.unlock()
        assertEquals(emptyList<Priority>(), levels)
        assertEquals(false, mutex.isLocked)
    }

    @Test
    fun boost_afterTheWaiterHasLeft_isEndedAtOnce() {
        lock(LOW)
        lateinit var waiter: Job
        boosting.meanwhile = { waiter.cancel() }
        boosted.launch(LOW) {
            waiter = launch(CRITICAL, start = CoroutineStart.LAZY) { mutex.lock() }
            waiter.start()
        }
        assertTrue(waiter.isCancelled)
        assertEquals(emptyList<Priority>(), levels)
        assertEquals(0, mutex.waiting)
    }

    @Test
    fun boost_dispatcherThrows_allCallersGetTheLock() {
        val reported = ArrayList<Throwable>()
        reportingTo(reported) {
            lock(LOW)
            boosting.meanwhile = { error("broken") }
            val waiter = lock(HIGH)
            lock(CRITICAL)
            assertEquals(listOf(CRITICAL), levels)
            mutex.unlock()
            assertTrue(waiter.isCompleted)
            assertEquals(listOf("broken"), reported.map { it.message })
        }
    }

    @Test
    fun boost_ofVeryManyHolders_reachesAll() {
        val lock = ReadWriteLock()
        repeat(READERS) { boosted.launch(LOW) { lock.withRead { awaitCancellation() } } }
        boosted.launch(CRITICAL) { lock.lockWrite() }
        assertTrue(boosting.boosts.tryAcquire(READERS, 120, TimeUnit.SECONDS))
        assertEquals(List(READERS) { CRITICAL }, levels)
    }

    @Test
    fun read_heldTwiceByOneOwner_isBoostedUntilTheLastUnlock() {
        val lock = ReadWriteLock()
        boosted.launch(LOW) {
            lock.lockRead(owner)
            lock.tryLockRead(owner)
        }
        boosted.launch(CRITICAL) { lock.lockWrite() }
        assertEquals(listOf(CRITICAL), levels)
        lock.unlockRead(owner)
        assertEquals(listOf(CRITICAL), levels)
        lock.unlockRead(owner)
        assertEquals(emptyList<Priority>(), levels)
        assertTrue(lock.isWriteLocked)
    }

    @Test
    fun withRead_ofCoroutinesWithOneOwner_boostsEachWhileItReads() {
        val lock = ReadWriteLock()
        val readers = List(2) { boosted.launch(LOW) { lock.withRead(owner) { awaitCancellation() } } }
        boosted.launch(CRITICAL) { lock.lockWrite() }
        assertEquals(listOf(CRITICAL, CRITICAL), levels)
        readers[0].cancel()
        assertEquals(listOf(CRITICAL), levels)
        readers[1].cancel()
        assertEquals(emptyList<Priority>(), levels)
        assertTrue(lock.isWriteLocked)
    }

    @Test
    fun downgrade_withoutAnOwner_endsTheBoost() {
        val lock = ReadWriteLock()
        boosted.launch(LOW) { lock.lockWrite() }
        boosted.launch(CRITICAL) { lock.lockWrite() }
        assertEquals(listOf(CRITICAL), levels)
        lock.downgrade()
        assertEquals(emptyList<Priority>(), levels)
        assertFalse(lock.core.hasKnownHolder())
    }

    @Test
    fun lock_freeOrOfAnUnknownHolder_recordsNoHolder() {
        lock(LOW)
        assertTrue(mutex.core.hasKnownHolder())
        mutex.unlock()
        assertFalse(mutex.core.hasKnownHolder())
        val semaphore = Semaphore(2)
        boosted.launch { repeat(2) { semaphore.acquire() } }
        boosted.launch(CRITICAL) { semaphore.acquire() }
        assertNull(semaphore.core.knownHolders)
        mutex.tryLock()
        assertFalse(mutex.core.hasKnownHolder())
    }

    private companion object {
        const val READERS = 2500
    }
}
