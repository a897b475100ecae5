package baton.sync.condition

import baton.sync.Mutex
import baton.sync.withLock
import baton.waiting.Callers
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Bugs that have been shipped elsewhere, and uses, as far as the contract does not cover them already. */
class ConditionScenarioTest {
    private val mutex = Mutex(name = "account")
    private val condition = mutex.newCondition("enough")

    @Test
    fun conditions_ofOneMutex_knowNothingOfEachOther() = runTest {
        val callers = Callers(this)
        val other = mutex.newCondition()
        assertSame(mutex, other.mutex)
        callers.call("one") { mutex.withLock { condition.await() } }
        callers.call("other") { mutex.withLock { other.await() } }
        mutex.withLock { other.signalAll() }
        runCurrent()
        assertEquals(listOf("other"), callers.served)
        assertEquals(1, condition.waiting)
        assertEquals(0, other.waiting)
    }

    /** The signaller gives up the mutex by an await of its own, on another condition. */
    @Test
    fun await_onAnotherConditionAfterASignal_handsTheMutexOver() = runTest {
        val callers = Callers(this)
        val other = mutex.newCondition()
        callers.call("first") {
            mutex.withLock("first") {
                condition.await()
                other.signal()
            }
        }
        callers.call("second") {
            mutex.withLock("second") {
                condition.signal()
                other.await()
            }
        }
        assertEquals(listOf("first", "second"), callers.served)
        assertFalse(mutex.isLocked)
    }

    /** Timed waits that all end at the same moment, while the mutex is free: each takes it after another. */
    @Test
    fun await_manyTimeOutTogether_eachHoldsTheMutexInTurn() = runTest {
        val callers = Callers(this)
        var inside = 0
        val waiters =
            List(10) { i ->
                val owner = "$i"
                callers.call(owner) {
                    mutex.withLock(owner) {
                        val signalled = condition.await(50.milliseconds)
                        assertEquals(1, ++inside)
                        assertSame(owner, mutex.holder)
                        inside--
                        signalled
                    }
                }
            }
        advanceTimeBy(51)
        assertTrue(waiters.all { it.gaveUp })
        assertFalse(mutex.isLocked)
    }
}
