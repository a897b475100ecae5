package baton.sync.mutex

import baton.sync.assertContains
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.waiting.Callers
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The owner that holds the mutex, and what that allows. */
interface MutexOwners : MutexFixture {
    @Test
    fun lock_withOwner_showsTheHolder() =
        runTest {
            val mutex = mutex()
            mutex.lock("t1")
            assertEquals("t1", mutex.holder)
            mutex.unlock("t1")
            assertNull(mutex.holder)
            assertState(mutex, isLocked = false)
            assertTrue(mutex.tryLock("t2"))
            assertEquals("t2", mutex.holder)
        }

    @Test
    fun lock_withoutOwner_hasNoHolder() =
        runTest {
            val mutex = mutex()
            mutex.lock()
            assertNull(mutex.holder)
            assertState(mutex, isLocked = true)
        }

    @Test
    fun lock_againBySameOwner_throwsAndStaysLocked() =
        runTest {
            val mutex = mutex(name = "account")
            mutex.lock("t1")
            repeat(2) {
                assertContains(assertThrows<IllegalStateException> { mutex.lock("t1") }.message, "t1")
                assertEquals("t1", mutex.holder)
                assertState(mutex, isLocked = true)
            }
            mutex.unlock("t1")
            assertState(mutex, isLocked = false)
        }

    @Test
    fun lock_againBySameOwnerWhileOthersWait_throwsAtOnce() =
        runTest {
            val mutex = mutex()
            mutex.lock("t1")
            Callers(this).call { mutex.lock("t2") }
            assertThrows<IllegalStateException> { mutex.lock("t1") }
            assertState(mutex, isLocked = true, waiting = 1)
            mutex.unlock("t1")
            assertEquals("t2", mutex.holder)
        }

    @Test
    fun tryLock_againBySameOwner_throwsAndStaysLocked() =
        runTest {
            val mutex = mutex(name = "account")
            mutex.lock("t1")
            assertContains(assertThrows<IllegalStateException> { mutex.tryLock("t1") }.message, "account", "t1")
            assertEquals("t1", mutex.holder)
            assertState(mutex, isLocked = true)
        }

    @Test
    fun lock_afterHandOverBySameOwner_throws() =
        runTest {
            val mutex = mutex(locked = true)
            val waiter = Callers(this).call { mutex.lock("t1") }
            mutex.unlock()
            assertThrows<IllegalStateException> { mutex.tryLock("t1") }
            runCurrent()
            assertTrue(waiter.isServed)
            assertThrows<IllegalStateException> { mutex.lock("t1") }
        }

    @Test
    fun tryLock_byAnotherOwner_isRefused() =
        runTest {
            val mutex = mutex()
            mutex.lock("t1")
            assertFalse(mutex.tryLock("t2"))
            assertFalse(mutex.tryLock())
            assertEquals("t1", mutex.holder)
        }

    @Test
    fun owner_equalButNotTheSame_isAnother() =
        runTest {
            val mine = Owner(1)
            val equal = Owner(1)
            val callers = Callers(this)
            val mutex = mutex()
            mutex.lock(mine)
            assertFalse(mutex.tryLock(equal))
            assertThrows<IllegalStateException> { mutex.unlock(equal) }
            assertSame(mine, mutex.holder)
            val waiter = callers.call { mutex.lock(equal) }
            assertTrue(waiter.isWaiting)
            mutex.unlock(mine)
            assertSame(equal, mutex.holder)
            assertThrows<IllegalStateException> { mutex.unlock(mine) }
            mutex.unlock(equal)
            assertState(mutex, isLocked = false)
        }

    @Test
    fun owner_whoseEqualsThrows_isNotAsked() =
        runTest {
            val mutex = mutex()
            val owner = Hostile()
            mutex.lock(owner)
            assertFalse(mutex.tryLock(Hostile()))
            mutex.unlock(owner)
            assertState(mutex, isLocked = false)
        }

    @Test
    fun owner_whoseToStringThrows_doesNotHideWhatIsWrong() =
        runTest {
            val mutex = mutex(name = "account")
            val owner = Hostile()
            mutex.lock(owner)
            val again = assertThrows<IllegalStateException> { mutex.lock(owner) }
            assertContains(again.message, "account", "Hostile")
            val wrong = assertThrows<IllegalStateException> { mutex.unlock(Hostile()) }
            assertContains(wrong.message, "account", "Hostile")
            assertContains(mutex.toString(), "account", "Hostile")
            assertSame(owner, mutex.holder)
        }

    @Test
    fun unlock_withoutOwnerButLockedWithOne_throwsAndStaysLocked() =
        runTest {
            val mutex = mutex(name = "account")
            mutex.lock("t1")
            assertContains(assertThrows<IllegalStateException> { mutex.unlock() }.message, "account", "t1")
            assertEquals("t1", mutex.holder)
            assertState(mutex, isLocked = true)
        }

    @Test
    fun unlock_byAnotherOwner_throwsAndStaysLocked() =
        runTest {
            val mutex = mutex()
            mutex.lock("t1")
            assertContains(assertThrows<IllegalStateException> { mutex.unlock("t2") }.message, "t1", "t2")
            assertEquals("t1", mutex.holder)
            mutex.unlock("t1")
        }

    @Test
    fun unlock_withOwnerButLockedWithoutOne_throwsAndStaysLocked() =
        runTest {
            val mutex = mutex()
            mutex.lock()
            assertThrows<IllegalStateException> { mutex.unlock("t1") }
            assertState(mutex, isLocked = true)
            Callers(this).call { mutex.lock() }
            assertThrows<IllegalStateException> { mutex.unlock("t1") }
            assertState(mutex, isLocked = true, waiting = 1)
        }

    @Test
    fun unlock_withOwnerButFree_throwsAndStaysFree() {
        val mutex = mutex()
        assertThrows<IllegalStateException> { mutex.unlock("t1") }
        assertState(mutex, isLocked = false)
    }

    @Test
    fun unlock_wrongOwnerWhileOthersWait_letsNobodyIn() =
        runTest {
            val mutex = mutex()
            mutex.lock("t1")
            val waiter = Callers(this).call { mutex.lock("t2") }
            assertThrows<IllegalStateException> { mutex.unlock() }
            assertThrows<IllegalStateException> { mutex.unlock("t2") }
            runCurrent()
            assertTrue(waiter.isWaiting)
            assertEquals("t1", mutex.holder)
        }

    @Test
    fun unlock_bySomebodyWhoUnlockedBefore_throws() =
        runTest {
            val mutex = mutex()
            mutex.lock("t1")
            Callers(this).call { mutex.lock("t2") }
            mutex.unlock("t1")
            assertThrows<IllegalStateException> { mutex.unlock("t1") }
            assertEquals("t2", mutex.holder)
        }

    @Test
    fun holder_directlyAfterHandOver_isTheNext() =
        runTest {
            val mutex = mutex()
            mutex.lock("t1")
            val next = Callers(this).call { mutex.lock("t2") }
            mutex.unlock("t1")
            assertEquals("t2", mutex.holder)
            assertFalse(next.isServed)
            runCurrent()
            assertTrue(next.isServed)
        }

    @Test
    fun lock_twoWaitersWithTheSameOwner_secondWaitsForTheFirst() =
        runTest {
            val callers = Callers(this)
            val mutex = mutex(locked = true)
            val first = callers.call("first") { mutex.lock("t1") }
            val second = callers.call("second") { mutex.lock("t1") }
            assertState(mutex, isLocked = true, waiting = 2)
            mutex.unlock()
            runCurrent()
            assertTrue(first.isServed)
            assertTrue(second.isWaiting)
            mutex.unlock("t1")
            runCurrent()
            assertTrue(second.isServed)
            assertEquals("t1", mutex.holder)
            mutex.unlock("t1")
            assertState(mutex, isLocked = false)
        }

    @Test
    fun holder_nextHasNoOwner_isNull() =
        runTest {
            val mutex = mutex()
            mutex.lock("t1")
            Callers(this).call { mutex.lock() }
            mutex.unlock("t1")
            assertNull(mutex.holder)
            assertState(mutex, isLocked = true)
            mutex.unlock()
            assertState(mutex, isLocked = false)
        }

    @Test
    fun owner_whoseToStringNamesTheMutex_isNamedOnce() =
        runTest {
            val mutex = mutex(name = "account")
            val account = object {
                override fun toString() = "Account of $mutex"
            }
            mutex.lock(account)
            val e = assertThrows<IllegalStateException> { mutex.unlock() }
            assertContains(e.message, "Account of", "account")
            assertTrue(e.message!!.length < 1_000)
            mutex.unlock(account)
        }

    @Test
    fun owner_whoseToStringThrowsAnError_doesNotHideWhatIsWrong() =
        runTest {
            val mutex = mutex(name = "account")
            val owner = Broken()
            mutex.lock(owner)
            assertContains(assertThrows<IllegalStateException> { mutex.lock(owner) }.message, "account", "Broken")
            assertContains(assertThrows<IllegalStateException> { mutex.unlock(Broken()) }.message, "account", "Broken")
            assertContains(mutex.toString(), "account", "Broken")
            assertSame(owner, mutex.holder)
        }

    private class Broken {
        override fun toString(): String = throw LinkageError("toString")
    }

    private data class Owner(val id: Int)

    private class Hostile {
        override fun equals(other: Any?): Boolean = throw UnsupportedOperationException("equals")

        override fun hashCode(): Int = throw UnsupportedOperationException("hashCode")

        override fun toString(): String = throw UnsupportedOperationException("toString")
    }
}
