package baton.test

import baton.channels.Channel
import baton.sync.Barrier
import baton.sync.Latch
import baton.sync.Mutex
import baton.sync.Mutexes
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.Semaphores
import baton.sync.WaitGroup
import baton.sync.withLock
import baton.sync.withPermit
import baton.tasks.SingleFlight
import baton.tasks.suspendingLazy
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.cancel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Other coroutines may go first at each call of a primitive that may suspend, also where it would not. */
class ExplorePointsTest {
    private fun failureOf(body: suspend ExploreScope.() -> Unit): AssertionError =
        assertThrows(AssertionError::class.java) { explore(seed = 1, body = body) }

    /** Whether the other coroutine may run between two statements of which the second is [call]. */
    private fun pausesBefore(call: suspend ExploreScope.() -> Unit): Boolean {
        var hasPaused = false
        explore(seed = 1) {
            var step = 0
            launch {
                step = 1
                call()
                step = 2
            }
            launch { if (step == 1) hasPaused = true }
        }
        return hasPaused
    }

    @Test
    fun mutexes_inOppositeOrder_meet() {
        val failure = failureOf {
            val x = Mutex(name = "x")
            val y = Mutex(name = "y")
            launch(CoroutineName("a")) { x.withLock { y.withLock {} } }
            launch(CoroutineName("b")) { y.withLock { x.withLock {} } }
        }
        val line = Regex("\\(ExplorePointsTest.kt:\\d+\\)")
        val lines = line.findAll(failure.message!!).map { it.value }.distinct().toList()
        assertEquals(2, lines.size, "the lines of a and of b: ${failure.message}")
        assertEquals(
            """
            1 unusual choice fails, which replay("4=1") repeats:
                 1  test starts
                 2  a starts
                 3  a calls lock of Mutex 'x' at A
            >    4  b starts, ahead of a
                 5  b calls lock of Mutex 'y' at B
                 6  b calls lock of Mutex 'x' at B
                 7  a calls lock of Mutex 'y' at A
            Then nothing can go on:
              test waits for what it launched
              a waits for lock of Mutex 'y' (locked, waiting = 1) at A
              b waits for lock of Mutex 'x' (locked, waiting = 1) at B
              -Dbaton.deadlocks=true names the holders, too"""
                .trimIndent(),
            failure.message!!.substringAfter('\n').replace(lines[0], "A").replace(lines[1], "B"),
        )
    }

    @Test
    fun call_thatNeedNotWait_isAPoint() {
        assertTrue(pausesBefore { Mutex().lock() })
        assertTrue(pausesBefore { Mutex().tryLock(1.seconds) })
        assertTrue(pausesBefore { Semaphore(1).acquire() })
        assertTrue(pausesBefore { Semaphore(2).acquire(2) })
        assertTrue(pausesBefore { Semaphore(1).tryAcquire(timeout = 1.seconds) })
        assertTrue(pausesBefore { Semaphore(1).awaitIdle() })
        assertTrue(pausesBefore { ReadWriteLock().lockRead() })
        assertTrue(pausesBefore { ReadWriteLock().tryLockRead(1.seconds) })
        assertTrue(pausesBefore { ReadWriteLock().lockWrite() })
        assertTrue(pausesBefore { ReadWriteLock().tryLockWrite(1.seconds) })
        assertTrue(pausesBefore { ReadWriteLock().lockUpgradable() })
        assertTrue(pausesBefore { ReadWriteLock().tryLockUpgradable(1.seconds) })
        assertTrue(pausesBefore { ReadWriteLock().apply { check(tryLockUpgradable()) }.upgrade() })
        assertTrue(pausesBefore { ReadWriteLock().apply { check(tryLockUpgradable()) }.tryUpgrade(1.seconds) })
        assertTrue(pausesBefore { Barrier(1).arrive() })
        assertTrue(pausesBefore { Barrier(1) {}.arrive() })
        assertTrue(pausesBefore { Barrier(1).arrive(1.seconds) })
        assertTrue(pausesBefore { Latch(0).await() })
        assertTrue(pausesBefore { Latch(0).await(1.seconds) })
        assertTrue(pausesBefore { WaitGroup().await() })
        assertTrue(pausesBefore { Mutexes<Int>().withLock(1) {} })
        assertTrue(pausesBefore { Mutexes<Int>().withLocks(1, 2) {} })
        assertTrue(pausesBefore { Semaphores<Int>(1).withPermit(1) {} })
        assertTrue(pausesBefore { SingleFlight<Int, Int>().run(1) { 1 } })
        assertTrue(pausesBefore { suspendingLazy { 1 }.get() })
        assertTrue(pausesBefore { Channel<Int>(1).send(1) })
        assertTrue(pausesBefore { Channel<Int>(1).trySend(1, 1.seconds) })
        assertTrue(pausesBefore { Channel<Int>(1).reserve() })
        assertTrue(pausesBefore { Channel<Int>(1).tryReserve(1.seconds) })
        assertTrue(pausesBefore { Channel<Int>(1).apply { trySend(1) }.receive() })
        assertTrue(pausesBefore { Channel<Int>(1).apply { trySend(1) }.receiveCatching() })
        assertTrue(pausesBefore { Channel<Int>(1).apply { trySend(1) }.tryReceive(1.seconds) })
        assertTrue(pausesBefore { Channel<Int>(1).apply { trySend(1) }.receiveUpTo(1) })
        assertTrue(pausesBefore { for (element in Channel<Int>(1).apply { close() }) check(element == 0) })
    }

    @Test
    fun call_thatDoesNotSuspend_isNoPoint() {
        assertFalse(pausesBefore { Mutex().tryLock() })
        assertFalse(pausesBefore { Semaphore(1).tryAcquire() })
        assertFalse(pausesBefore { Semaphore(1, acquired = 1).release() })
        assertFalse(pausesBefore { Channel<Int>(1).trySend(1) })
        assertFalse(pausesBefore { Mutex().tryLock(0.seconds) })
    }

    @Test
    fun condition_isAPointBeforeItWaits() = explore {
        val mutex = Mutex()
        val condition = mutex.newCondition()
        var isSet = false
        launch { mutex.withLock { while (!isSet) condition.await() } }
        launch {
            mutex.withLock {
                isSet = true
                condition.signal()
            }
        }
    }

    /** The results are those of the fast path, in each order. */
    @Test
    fun results_areThoseOfAnOrdinaryCall() =
        explore(runs = 100) {
            launch {}
            val owner = Any()
            val mutex = Mutex()
            mutex.lock(owner)
            assertTrue(mutex.holdsLock(owner))
            assertFalse(mutex.tryLock(1.seconds))
            assertThrows(IllegalStateException::class.java) { mutex.tryLock(owner) }
            assertEquals("locked twice", runCatching { mutex.lock(owner) }.fold({ "no" }, { "locked twice" }))
            val semaphore = Semaphore(2)
            assertTrue(semaphore.tryAcquire(2, 1.seconds))
            assertFalse(semaphore.tryAcquire(1, 1.seconds))
            semaphore.release(2)
            semaphore.awaitIdle()
            assertEquals(2, semaphore.availablePermits)
            semaphore.close()
            assertTrue(runCatching { semaphore.acquire() }.isFailure)
            val channel = Channel<Int?>(2)
            channel.send(1)
            channel.send(null)
            assertEquals(1, channel.receive())
            assertEquals(null, channel.receive())
            assertTrue(channel.tryReceive(1.seconds).isFailure)
            channel.reserve().send(3)
            channel.close()
            assertTrue(channel.trySend(4, 1.seconds).isFailure)
            assertEquals(3, channel.receiveCatching().getOrNull())
            assertTrue(channel.receiveCatching().isClosed)
            assertEquals(listOf<Int?>(), channel.receiveUpTo(2))
            val batches = Channel<Int?>(3)
            for (element in listOf(1, null, 3)) batches.send(element)
            assertEquals(listOf(1, null), batches.receiveUpTo(2))
            assertEquals(listOf<Int?>(3), batches.receiveUpTo(2))
            assertEquals(0, Barrier(1).arrive())
            var led = 0
            assertEquals(0, Barrier(1) { led++ }.arrive(1.seconds))
            assertEquals(1, led)
            assertTrue(Latch(0).await(1.seconds))
            assertFalse(Latch(1).await(1.seconds))
            val lock = ReadWriteLock()
            lock.lockUpgradable()
            lock.upgrade()
            assertTrue(lock.isWriteLocked)
            assertFalse(lock.tryLockRead(1.seconds))
            lock.unlockWrite()
        }

    /** As in production: a call that does not have to wait does not check for cancellation. */
    @Test
    fun cancelledCaller_thatNeedNotWait_isServed() =
        explore(runs = 100) {
            val mutex = Mutex()
            launch {
                launch {}
                currentCoroutineContext().cancel()
                mutex.lock()
                Semaphore(1).acquire()
                Channel<Int>(1).send(1)
                Latch(0).await()
            }
            afterwards { assertTrue(mutex.isLocked) }
        }

    /** Neither its threads nor its coroutines are explored. */
    @Test
    fun calls_ofOtherDispatchers_areNotExplored() =
        explore(runs = 3) {
            launch {}
            runBlocking { Semaphore(1).withPermit { withContext(Dispatchers.Unconfined) { Mutex().withLock {} } } }
        }

    @Test
    fun timeout_runsInVirtualTime() = explore {
        launch {}
        assertFalse(Semaphore(1, acquired = 1).tryAcquire(timeout = 1.hours))
    }
}
