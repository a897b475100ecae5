package baton.sync

import baton.waiting.Callers
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.delay
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test

/** The forms in which users write it. They must go on to compile. */
@Tag("jdk")
class UsageTest {
    @Test
    fun mutex_asUsersWriteIt() = runTest {
        val mutex = Mutex(name = "account")
        mutex.withLock {}
        mutex.withLock(owner = "t1") {}
        mutex.lock()
        mutex.unlock()
        mutex.lock("me")
        assertEquals(listOf(true, false), listOf("me", "you").map(mutex::holdsLock))
        mutex.unlock("me")
        assertFalse(mutex.holdsLock("me"))
        val a: Boolean = mutex.tryLock()
        val b: Boolean = mutex.tryLock(timeout = 50.milliseconds)
        assertTrue(a)
        assertFalse(b)
        assertTrue(mutex.isLocked)
        assertNull(mutex.holder)
        assertEquals(0, mutex.waiting)
        assertTrue(Mutex(locked = true).isLocked)
    }

    @Test
    fun semaphore_asUsersWriteIt() = runTest {
        val semaphore = Semaphore(permits = 10)
        Semaphore(permits = 10, acquired = 4, order = WaitOrder.PRIORITY, name = "uplink")
        semaphore.withPermit {}
        semaphore.withPermits(3) {}
        semaphore.acquire()
        semaphore.acquire(3)
        semaphore.release(3)
        semaphore.release()
        val c: Boolean = semaphore.tryAcquire()
        val d: Boolean = semaphore.tryAcquire(2)
        val e: Boolean = semaphore.tryAcquire(permits = 2, timeout = 50.milliseconds)
        assertTrue(c && d && e)
        assertEquals(10, semaphore.permits)
        assertEquals(5, semaphore.availablePermits)
        assertEquals(0, semaphore.waiting)
        semaphore.release(5)
        semaphore.resize(20)
        semaphore.awaitIdle()
        semaphore.close()
    }

    @Test
    fun semaphoreClose_asUsersWriteIt() = runTest {
        val semaphore = Semaphore(1, acquired = 1)
        val waiter = Callers(this).call { semaphore.acquire() }
        val cause = IllegalStateException("going down")
        semaphore.close(cause)
        runCurrent()
        val failure = assertInstanceOf(SemaphoreClosedException::class.java, waiter.failure)
        assertEquals(cause, failure.cause)
    }

    @Test
    fun readWriteLock_asUsersWriteIt() = runTest {
        val rw = ReadWriteLock(policy = ReadWritePolicy.PHASE_FAIR)
        ReadWriteLock(ReadWritePolicy.WRITER_FIRST)
        ReadWriteLock(ReadWritePolicy.READER_FIRST, name = "cache")
        rw.withRead {}
        rw.withWrite {}
        rw.lockRead()
        rw.unlockRead()
        rw.lockWrite()
        rw.unlockWrite()
        assertTrue(rw.tryLockRead())
        assertFalse(rw.tryLockWrite())
        assertTrue(rw.tryLockRead(timeout = 50.milliseconds))
        assertFalse(rw.tryLockWrite(timeout = 50.milliseconds))
        repeat(2) { rw.unlockRead() }
        rw.lockWrite()
        rw.downgrade()
        rw.unlockRead()
        rw.lockUpgradable()
        rw.upgrade()
        rw.unlockWrite()
        rw.lockUpgradable()
        rw.unlockUpgradable()
        assertEquals(0, rw.readers)
        assertFalse(rw.isWriteLocked)
        assertEquals(0, rw.waiting)
    }

    @Test
    fun condition_asUsersWriteIt() = runTest {
        val mutex = Mutex()
        val condition = mutex.newCondition()
        mutex.newCondition(name = "not empty")
        val waiter = Callers(this).call { mutex.withLock { condition.await() } }
        assertEquals(1, condition.waiting)
        mutex.withLock {
            condition.signal()
            condition.signalAll()
            assertFalse(condition.await(timeout = 50.milliseconds))
        }
        runCurrent()
        assertTrue(waiter.isServed)
    }

    @Test
    fun latchAndWaitGroup_asUsersWriteIt() = runTest {
        val latch = Latch(count = 3)
        val f: Boolean = latch.await(timeout = 50.milliseconds)
        repeat(3) { latch.countDown() }
        latch.await()
        assertFalse(f)
        assertEquals(0, latch.count)
        select { latch.onAwait {} }
        Latch(count = 3, name = "ready")
        val group = WaitGroup()
        group.add(2)
        group.add()
        val g: Boolean = group.await(timeout = 50.milliseconds)
        repeat(3) { group.done() }
        group.await()
        assertFalse(g)
        assertEquals(0, group.count + group.waiting + latch.waiting)
        select { group.onAwait {} }
        WaitGroup(name = "uploads")
    }

    @Test
    fun barrier_asUsersWriteIt() = runTest {
        var swaps = 0
        val barrier = Barrier(parties = 3, onCancel = BarrierCancellation.RETRACT) { swaps++ }
        Barrier(3)
        Barrier(parties = 3, name = "page") { delay(1) }
        Callers(this).call { barrier.arrive(timeout = 1000.milliseconds) }
        Callers(this).call { barrier.arrive() }
        val index: Int = barrier.arrive()
        assertEquals(0, index)
        assertEquals(1, swaps)
        val late = Callers(this).call { barrier.arrive(timeout = 1000.milliseconds) }
        advanceTimeBy(1001)
        assertInstanceOf(java.util.concurrent.TimeoutException::class.java, late.failure)
        barrier.abort(IllegalStateException("going down"))
        assertTrue(barrier.isBroken)
        barrier.reset()
        assertEquals(3, barrier.parties)
        assertEquals(0, barrier.waiting)
    }

    @Test
    fun select_asUsersWriteIt() = runTest {
        val mutex = Mutex(locked = true)
        val semaphore = Semaphore(3, acquired = 3)
        val rw = ReadWriteLock()
        rw.lockWrite()
        val latch = Latch(1)
        val channel = Channel<String>(1)
        var won: String? = null
        Callers(this).call {
            select {
                mutex.onLock { won = "mutex" }
                mutex.onLock("t1") { won = "mutex of t1" }
                semaphore.onAcquire { won = "semaphore" }
                semaphore.onAcquire(3) { won = "semaphore, three" }
                rw.onRead { won = "read" }
                rw.onWrite { won = "write" }
                latch.onAwait { won = "latch" }
                channel.onReceive { element -> won = element }
            }
        }
        channel.send("x")
        runCurrent()
        assertEquals("x", won)
        assertEquals(0, mutex.waiting + semaphore.waiting + rw.waiting + latch.waiting)
    }
}
