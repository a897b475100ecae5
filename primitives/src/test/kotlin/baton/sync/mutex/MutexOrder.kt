package baton.sync.mutex

import baton.sync.Mutex
import baton.sync.assertContains
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.waiting.Callers
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** One holder at a time, first come, first served, from hand to hand. */
interface MutexOrder : MutexFixture {
    @Test
    fun create_unlocked_isFree() {
        val mutex = mutex()
        assertState(mutex, isLocked = false)
        assertNull(mutex.holder)
        assertTrue(mutex.tryLock())
    }

    @Test
    fun create_locked_isLockedWithoutOwner() {
        val mutex = mutex(locked = true)
        assertState(mutex, isLocked = true)
        assertNull(mutex.holder)
        assertFalse(mutex.tryLock())
        mutex.unlock()
        assertState(mutex, isLocked = false)
        assertTrue(mutex.tryLock())
    }

    @Test
    fun lock_free_doesNotSuspend() =
        runTest {
            val mutex = mutex()
            assertTrue(Callers(this).callAtOnce { mutex.lock() }.isServed)
            assertState(mutex, isLocked = true)
        }

    @Test
    fun tryLock_locked_isRefused() =
        runTest {
            val mutex = mutex()
            mutex.lock()
            repeat(3) { assertFalse(mutex.tryLock()) }
            assertState(mutex, isLocked = true)
            mutex.unlock()
            assertTrue(mutex.tryLock())
        }

    @Test
    fun lock_severalWait_areLetInInTheOrderTheyCame() =
        runTest {
            val callers = Callers(this)
            val mutex = mutex(locked = true)
            for (name in listOf("a", "b", "c", "d")) callers.call(name) { mutex.lock() }
            for (let in 1..4) {
                mutex.unlock()
                runCurrent()
                assertEquals(listOf("a", "b", "c", "d").take(let), callers.served)
                assertState(mutex, isLocked = true, waiting = 4 - let)
            }
            mutex.unlock()
            assertState(mutex, isLocked = false)
        }

    @Test
    fun lock_withAndWithoutOwner_standInOneQueue() =
        runTest {
            val callers = Callers(this)
            val mutex = mutex(locked = true)
            val owners = listOf(null, "a", null, "b")
            owners.forEachIndexed { i, owner -> callers.call("$i") { mutex.lock(owner) } }
            mutex.unlock()
            for (i in owners.indices) {
                runCurrent()
                assertEquals("$i", callers.served.last())
                assertEquals(owners[i], mutex.holder)
                mutex.unlock(owners[i])
            }
            assertState(mutex, isLocked = false)
        }

    @Test
    fun tryLock_waiterNotRunYet_mutexIsAlreadyTheWaiters() =
        runTest {
            val mutex = mutex(locked = true)
            val waiter = Callers(this).call { mutex.lock() }
            mutex.unlock()
            assertState(mutex, isLocked = true, waiting = 0)
            assertFalse(mutex.tryLock())
            assertFalse(mutex.tryLock("somebody"))
            runCurrent()
            assertTrue(waiter.isServed)
        }

    @Test
    fun lock_byTheUnlockerAgain_goesToTheEndOfTheQueue() =
        runTest {
            val callers = Callers(this)
            val mutex = mutex(locked = true)
            callers.call("a") { mutex.lock() }
            callers.call("b") { mutex.lock() }
            mutex.unlock()
            callers.callAtOnce("again") { mutex.lock() }
            repeat(2) {
                mutex.unlock()
                runCurrent()
            }
            assertEquals(listOf("a", "b", "again"), callers.served)
        }

    @Test
    fun unlock_twiceInARow_passesItOnTwice() =
        runTest {
            val callers = Callers(this)
            val mutex = mutex(locked = true)
            for (name in listOf("a", "b", "c")) callers.call(name) { mutex.lock() }
            mutex.unlock()
            mutex.unlock()
            assertState(mutex, isLocked = true, waiting = 1)
            runCurrent()
            assertEquals(listOf("a", "b"), callers.served)
        }

    @Test
    fun unlock_free_throwsAndStaysFree() {
        val mutex = mutex(name = "account")
        repeat(2) {
            assertContains(assertThrows<IllegalStateException> { mutex.unlock() }.message, "account")
            assertState(mutex, isLocked = false)
        }
        assertTrue(mutex.tryLock())
        assertFalse(mutex.tryLock())
    }

    @Test
    fun lock_queueRunsEmpty_newcomersDoNotWaitAgain() =
        runTest {
            val mutex = mutex(locked = true)
            repeat(3) { Callers(this).call { mutex.lock("$it") } }
            mutex.unlock()
            repeat(3) { mutex.unlock(mutex.holder) }
            assertState(mutex, isLocked = false)
            repeat(2) {
                assertTrue(Callers(this).callAtOnce { mutex.lock() }.isServed)
                mutex.unlock()
            }
        }

    @Test
    fun lock_byAnotherCoroutineThanUnlock_isAllowed() =
        runTest {
            val mutex = mutex()
            Callers(this).call { mutex.lock() }
            Callers(this).call { mutex.unlock() }
            assertState(mutex, isLocked = false)
        }

    @Test
    fun toString_inEveryState_showsIt() =
        runTest {
            val mutex = mutex(name = "account")
            assertContains(mutex.toString(), "account", "free")
            mutex.lock()
            assertContains(mutex.toString(), "account", "locked", "waiting = 0")
            mutex.unlock()
            mutex.lock("t1")
            Callers(this).call { mutex.lock() }
            assertContains(mutex.toString(), "account", "locked", "t1", "waiting = 1")
            assertContains(mutex().toString(), "Mutex")
        }
}
