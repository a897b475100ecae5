package baton.sync.condition

import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.waiting.Callers
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A waiter gives up the mutex as the owner it was, and returns as the same owner. */
interface ConditionOwners : ConditionFixture {
    @Test
    fun await_withOwner_givesItUpAndIsItAgain() =
        runTest {
            val condition = condition()
            val mutex = condition.mutex
            val waiter = Callers(this).call { mutex.lock("a").also { condition.await() } }
            assertNull(mutex.holder)
            mutex.lock("b")
            condition.signal()
            assertEquals("b", mutex.holder)
            mutex.unlock("b")
            assertEquals("a", mutex.holder)
            runCurrent()
            assertTrue(waiter.isServed)
            mutex.unlock("a")
            assertState(condition, isLocked = false)
        }

    @Test
    fun await_severalOwners_eachComesBackAsItself() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            val owners = listOf("a", null, "b", null)
            owners.forEachIndexed { i, owner -> callers.visitor(condition, "$i", owner) }
            condition.mutex.lock("signaller")
            condition.signalAll()
            condition.mutex.unlock("signaller")
            runCurrent()
            assertEquals(listOf("0", "1", "2", "3"), callers.served)
            assertState(condition, isLocked = false)
        }

    @Test
    fun await_handedToTheNextOwner_whoHoldsItThen() =
        runTest {
            val condition = condition()
            val mutex = condition.mutex
            mutex.lock("a")
            Callers(this).call { mutex.lock("b") }
            Callers(this).callAtOnce { condition.await() }
            assertEquals("b", mutex.holder)
        }

    /** For the mutex it would be locking twice; but the waiter waits until the other caller has unlocked. */
    @Test
    fun signal_bySameOwnerAsTheWaiters_isNotLockingTwice() =
        runTest {
            val condition = condition()
            val mutex = condition.mutex
            val waiter = Callers(this).visitor(condition, owner = "team")
            mutex.lock("team")
            condition.signal()
            runCurrent()
            assertTrue(waiter.isWaiting)
            assertState(condition, isLocked = true, queued = 1)
            mutex.unlock("team")
            runCurrent()
            assertTrue(waiter.isServed)
            assertState(condition, isLocked = false)
        }
}
