package baton.sync.mutex

import baton.sync.assertContains
import baton.sync.assertState
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
    private class State(val isLocked: Boolean, val owner: Any?)

    private val states
        get() = listOf(State(false, null), State(true, null), State(true, "a"), State(true, "b"))

    /** Every call without an owner, by the holder and by other owners; in every state, with and without a waiter. */
    @Test
    fun calls_inEveryState_changeItOrNameTheHolderAndChangeNothing() = runTest {
        for (state in states) {
            for (waiters in if (state.isLocked) 0..1 else 0..0) {
                for (by in listOf(null, "a", "b")) {
                    lockAndTryLock(locked(Callers(this), state, waiters), state, by, waiters)
                    unlock(locked(Callers(this), state, waiters), state, by, waiters)
                    runCurrent()
                }
            }
        }
    }

    private fun locked(callers: Callers, state: State, waiters: Int): MutexFace {
        val mutex = mutex(name = "account")
        if (state.isLocked) assertTrue(mutex.tryLock(state.owner))
        repeat(waiters) { callers.call { mutex.lock("next") } }
        assertState(mutex, state.isLocked, waiters)
        assertEquals(state.owner, mutex.holder)
        return mutex
    }

    private suspend fun lockAndTryLock(mutex: MutexFace, state: State, by: Any?, waiters: Int) {
        if (!state.isLocked) {
            assertTrue(mutex.tryLock(by))
            assertEquals(by, mutex.holder)
            mutex.unlock(by)
            mutex.lock(by)
            assertState(mutex, isLocked = true)
            assertEquals(by, mutex.holder)
            return
        }
        repeat(2) {
            if (by != null && by == state.owner) {
                for (call in listOf<suspend () -> Any?>({ mutex.tryLock(by) }, { mutex.lock(by) })) {
                    assertContains(assertThrows<IllegalStateException> { call() }.message, "account", by)
                }
            } else {
                assertFalse(mutex.tryLock(by))
            }
            assertState(mutex, isLocked = true, waiters)
            assertEquals(state.owner, mutex.holder)
        }
    }

    private fun unlock(mutex: MutexFace, state: State, by: Any?, waiters: Int) {
        if (state.isLocked && by == state.owner) {
            mutex.unlock(by)
            assertState(mutex, isLocked = waiters > 0)
            assertEquals(if (waiters > 0) "next" else null, mutex.holder)
        }
        val before = mutex.holder
        if (before == by && mutex.isLocked) return
        repeat(2) {
            val e = assertThrows<IllegalStateException> { mutex.unlock(by) }
            assertContains(e.message, *listOfNotNull("account", before).toTypedArray())
            assertEquals(before, mutex.holder)
        }
        assertEquals(before != null || (state.isLocked && by != state.owner), mutex.isLocked)
    }

    @Test
    fun lock_waitersWithAndWithoutOwner_standInOneQueueAndAreHoldersFromTheHandOverOn() = runTest {
        val callers = Callers(this)
        val mutex = mutex(locked = true)
        val owners = listOf("a", null, "a", "b", null)
        owners.forEachIndexed { i, owner -> callers.call("$i") { mutex.lock(owner) } }
        var before: Any? = null
        for (i in owners.indices) {
            mutex.unlock(before)
            assertState(mutex, isLocked = true, waiting = 4 - i)
            assertEquals(owners[i], mutex.holder)
            before = owners[i]
            if (before != null) assertThrows<IllegalStateException> { mutex.tryLock(before) }
            assertEquals(i, callers.served.size)
            runCurrent()
            assertEquals("$i", callers.served.last())
        }
        mutex.unlock()
        assertState(mutex, isLocked = false)
        assertNull(mutex.holder)
    }

    @Test
    fun owner_equalButNotTheSame_isAnother() = runTest {
        val mine = Owner(1)
        val equal = Owner(1)
        val mutex = mutex()
        mutex.lock(mine)
        assertFalse(mutex.tryLock(equal))
        assertThrows<IllegalStateException> { mutex.unlock(equal) }
        assertSame(mine, mutex.holder)
        assertTrue(Callers(this).call { mutex.lock(equal) }.isWaiting)
        mutex.unlock(mine)
        assertSame(equal, mutex.holder)
        assertThrows<IllegalStateException> { mutex.unlock(mine) }
        mutex.unlock(equal)
        assertState(mutex, isLocked = false)
    }

    @Test
    fun owner_whoseEqualsAndToStringThrow_doesNotHideWhatIsWrong() = runTest {
        for (error in listOf(UnsupportedOperationException(), LinkageError())) {
            val mutex = mutex(name = "account")
            val owner = Hostile(error)
            val other = Hostile(error)
            mutex.lock(owner)
            assertFalse(mutex.tryLock(other))
            for (call in listOf<suspend () -> Any?>({ mutex.lock(owner) }, { mutex.unlock(other) })) {
                assertContains(assertThrows<IllegalStateException> { call() }.message, "account", "Hostile")
            }
            assertContains(mutex.toString(), "account", "Hostile")
            assertSame(owner, mutex.holder)
            mutex.unlock(owner)
            assertState(mutex, isLocked = false)
        }
    }

    @Test
    fun owner_whoseToStringNamesTheMutex_isNamedOnce() = runTest {
        val mutex = mutex(name = "account")
        val account =
            object {
                override fun toString() = "Account of $mutex"
            }
        mutex.lock(account)
        val e = assertThrows<IllegalStateException> { mutex.unlock() }
        assertContains(e.message, "Account of", "account")
        assertTrue(e.message!!.length < 1_000)
        mutex.unlock(account)
    }

    private data class Owner(val id: Int)

    private class Hostile(private val error: Throwable) {
        override fun equals(other: Any?): Boolean = throw error

        override fun hashCode(): Int = throw error

        override fun toString(): String = throw error
    }
}
