package baton.sync.readwrite.contract

import baton.sync.ReadWritePolicy
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.sync.readwrite.assertFree
import baton.sync.semaphore.contract.DyingDispatcher
import baton.waiting.Callers
import java.util.concurrent.Executors
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Coroutines in uncommon worlds: no dispatcher, a dispatcher that runs at once, one that does not run at all. */
interface ReadWriteDispatch : ReadWriteFixture {
    private fun start(block: suspend () -> Unit) {
        block.startCoroutine(Continuation(EmptyCoroutineContext) { it.getOrThrow() })
    }

    @Test
    fun unlockWrite_noJobAndNoDispatcher_leaverResumesTheWholeCrowd() =
        runTest {
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
    fun unlockWrite_noDispatcherAndEachLeavesAtOnce_runsTheWholeQueue() =
        runTest {
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

    @Test
    fun unlockWrite_noDispatcherAndTheFirstReaderThrows_theOthersRead() {
        val uncaught = mutableListOf<Throwable>()
        val thread = Thread.currentThread()
        val before = thread.uncaughtExceptionHandler
        thread.setUncaughtExceptionHandler { _, e -> uncaught += e }
        try {
            val lock = lock()
            assertTrue(lock.tryLockWrite())
            var served = 0
            for (i in 0..2) {
                start {
                    lock.lockRead()
                    lock.unlockRead()
                    if (i == 0) error("in the completion")
                    served++
                }
            }
            lock.unlockWrite()
            assertEquals(2, served)
            assertFree(lock)
            assertEquals(listOf("in the completion"), uncaught.map { it.message })
        } finally {
            thread.setUncaughtExceptionHandler(before)
        }
    }

    @Test
    fun lock_unconfined_isResumedByTheLeaver() =
        runTest {
            for (access in Access.entries) {
                val lock = lock()
                lock.lockWrite()
                val waiter = Callers(this).callAtOnce(context = Dispatchers.Unconfined) { access.lock(lock) }
                assertFalse(waiter.isServed)
                lock.unlockWrite()
                assertTrue(waiter.isServed)
            }
        }

    @Test
    fun unlockWrite_dispatcherThrows_lockGoesToTheNext() =
        runTest {
            for (access in Access.entries) {
                val dead = DyingDispatcher()
                val callers = Callers(this)
                val lock = lock()
                lock.lockWrite()
                callers.callAtOnce("dead", dead) { access.lock(lock, "dead") }
                callers.call("next") { lock.lockWrite("next") }
                dead.isDead = true
                lock.unlockWrite()
                while (callers.served.isEmpty()) Thread.onSpinWait().also { runCurrent() }
                assertEquals(listOf("next"), callers.served)
                assertEquals("next", lock.writeHolder)
            }
        }

    @Test
    fun unlockWrite_executorOfSomeReadersWasShutDown_theyAreCancelledAndTheOthersRead() =
        runTest {
            val executor = Executors.newSingleThreadExecutor()
            val dispatcher = executor.asCoroutineDispatcher()
            val lock = lock()
            lock.lockWrite()
            val alive = mutableListOf(Callers(this).call { lock.lockRead() })
            val dead = List(3) { Callers(this).callAtOnce(context = dispatcher) { lock.lockRead() } }
            alive += Callers(this).call { lock.lockRead() }
            executor.shutdown()
            lock.unlockWrite()
            dead.forEach { it.job.join() }
            runCurrent()
            assertTrue(dead.all { it.isCancelled } && alive.all { it.isServed })
            assertState(lock, readers = 2)
        }
}
