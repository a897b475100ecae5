package baton.sync.mutex

import baton.sync.Mutex
import baton.sync.withLock
import baton.waiting.Callers
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.advanceUntilIdle
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Bugs that have been shipped elsewhere, as far as the contract does not cover them already. */
class MutexScenarioTest {
    /** kotlinx.coroutines #3745: tryLock(owner) beside others' unlock and lock had a result that fits no order. */
    @Test
    fun tryLock_holderChangesBetweenTwoAnswers_eachFitsItsMoment() =
        runTest {
            val mutex = Mutex()
            mutex.lock("a")
            assertThrows(IllegalStateException::class.java) { mutex.tryLock("a") }
            Callers(this).call { mutex.lock("b") }
            mutex.unlock("a")
            assertFalse(mutex.tryLock("a"))
            assertThrows(IllegalStateException::class.java) { mutex.tryLock("b") }
            mutex.unlock("b")
            assertTrue(mutex.tryLock("a"))
        }

    /** kotlinx.coroutines #676, #965: locking again by the same owner hung silently. */
    @Test
    fun lock_againByTheOwner_isReportedInsteadOfHanging() =
        runTest {
            val mutex = Mutex(name = "account")
            mutex.lock("t1")
            val again = Callers(this).callAtOnce { mutex.lock("t1") }
            assertTrue(again.failure is IllegalStateException)
            for (part in listOf("account", "t1")) assertTrue(part in again.failure!!.message!!)
        }

    /** cats-effect #3564: cancelling waiter 0 of 10 sent waiter 1 to the back. */
    @Test
    fun cancel_firstOfTen_orderOfTheRestIsUnchanged() =
        runTest {
            val callers = Callers(this)
            val mutex = Mutex(locked = true)
            val waiters = List(10) { i -> callers.call("$i") { mutex.lock() } }
            waiters[0].cancel()
            repeat(10) {
                mutex.unlock()
                runCurrent()
            }
            assertEquals((1..9).map { "$it" }, callers.served)
            assertFalse(mutex.isLocked)
        }

    /** cpython bpo-27585: the woken waiter was cancelled before it took the lock, and no other waiter was woken. */
    @Test
    fun cancel_wokenBeforeItRan_wakesTheNext() =
        runTest {
            val mutex = Mutex(locked = true)
            val a = Callers(this).call { mutex.lock() }
            val b = Callers(this).call { mutex.lock() }
            mutex.unlock()
            a.cancel()
            runCurrent()
            assertTrue(b.isServed)
        }

    /** futures-locks #1, #2: a lock request that was dropped before it was served owned the lock for ever. */
    @Test
    fun lock_requestIsDropped_doesNotOwnTheMutex() =
        runTest {
            val mutex = Mutex(locked = true)
            Callers(this).call { mutex.lock() }.cancel()
            mutex.unlock()
            assertTrue(mutex.tryLock())
        }

    /** JDK-6503247: a callback that threw inside the acquire path left the queue unusable. */
    @Test
    fun unlock_resumedCodeThrows_queueGoesOnAndUnlockerHearsNothing() {
        val uncaught = mutableListOf<Throwable>()
        val thread = Thread.currentThread()
        val before = thread.uncaughtExceptionHandler
        thread.setUncaughtExceptionHandler { _, e -> uncaught += e }
        try {
            val mutex = Mutex(locked = true)
            var served = false
            val failing = Continuation<Unit>(EmptyCoroutineContext) { error("in the completion") }
            suspend { mutex.withLock { } }.startCoroutine(failing)
            suspend { mutex.withLock { served = true } }.startCoroutine(Continuation(EmptyCoroutineContext) { })
            mutex.unlock()
            assertTrue(served)
            assertFalse(mutex.isLocked)
            assertEquals(listOf("in the completion"), uncaught.map { it.message })
        } finally {
            thread.setUncaughtExceptionHandler(before)
        }
    }

    /** The lock is handed to a waiter that is cancelled at that moment, many times in a row. */
    @Test
    fun cancel_everySecondAtItsHandOver_theOthersAreServedInOrder() =
        runTest {
            val callers = Callers(this)
            val mutex = Mutex(locked = true)
            val waiters =
                List(20) { i ->
                    callers.call("$i") {
                        mutex.lock()
                        if (i % 2 == 0) throw CancellationException("was not to be served")
                    }
                }
            for (i in 0..<20 step 2) {
                mutex.unlock()
                waiters[i].cancel()
                runCurrent()
            }
            assertEquals((1..19 step 2).map { "$it" }, callers.served)
            assertTrue(mutex.isLocked)
            assertEquals(0, mutex.waiting)
        }

    /** Between the release and the next holder, other callers could take the lock. */
    @Test
    fun unlock_somebodyWaits_nobodySlipsIn() =
        runTest {
            val mutex = Mutex(locked = true)
            val waiter = Callers(this).call { mutex.lock() }
            mutex.unlock()
            assertTrue(mutex.isLocked)
            assertFalse(mutex.tryLock())
            runCurrent()
            assertTrue(waiter.isServed)
        }

    /** Read, suspend, write: the purpose of the mutex. */
    @Test
    fun withLock_readSuspendWrite_losesNoUpdate() =
        runTest {
            val mutex = Mutex()
            var balance = 0
            repeat(100) {
                launch {
                    mutex.withLock {
                        val seen = balance
                        delay(1)
                        balance = seen + 1
                    }
                }
            }
            advanceUntilIdle()
            assertEquals(100, balance)
        }
}
