package baton.sync.mutex

import baton.sync.assertContains
import baton.sync.assertState
import baton.waiting.Callers
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** One holder at a time, first come, first served, from hand to hand. */
interface MutexOrder : MutexFixture {
    @Test
    fun create_freeOrLocked_hasNoOwner() {
        for (locked in listOf(false, true)) {
            val mutex = mutex(locked)
            assertState(mutex, isLocked = locked)
            assertNull(mutex.holder)
            assertEquals(!locked, mutex.tryLock())
            repeat(3) { assertFalse(mutex.tryLock()) }
            mutex.unlock()
            assertState(mutex, isLocked = false)
        }
    }

    @Test
    fun tryLock_waiterNotRunYet_mutexIsAlreadyTheWaiters() = runTest {
        val mutex = mutex(locked = true)
        val waiter = Callers(this).call { mutex.lock() }
        mutex.unlock()
        assertState(mutex, isLocked = true, waiting = 0)
        for (by in listOf(null, "another")) assertFalse(mutex.tryLock(by))
        runCurrent()
        assertTrue(waiter.isServed)
    }

    @Test
    fun unlock_twiceInARowAndLockAgain_passesItOnTwiceAndTheUnlockerComesLast() = runTest {
        val callers = Callers(this)
        val mutex = mutex(locked = true)
        for (name in listOf("a", "b")) callers.call(name) { mutex.lock() }
        mutex.unlock()
        callers.callAtOnce("again") { mutex.lock() }
        mutex.unlock()
        assertState(mutex, isLocked = true, waiting = 1)
        runCurrent()
        assertEquals(listOf("a", "b"), callers.served)
        callers.call { mutex.unlock() }
        assertEquals("again", callers.served.last { it != "caller" })
    }

    @Test
    fun toString_inEveryState_showsIt() = runTest {
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
