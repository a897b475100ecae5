package baton.sync.condition

import baton.sync.Condition
import baton.sync.Mutex
import baton.sync.assertContains
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.waiting.Callers
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** A waiter gives up the mutex; a signalled waiter returns with it, first come, first signalled. */
interface ConditionSignals : ConditionFixture {
    @Test
    fun create_nobodyWaits() = assertState(condition(), isLocked = false)

    @Test
    fun await_mutexIsFreeMeanwhile() =
        runTest {
            val condition = condition()
            val waiter = Callers(this).visitor(condition)
            assertTrue(waiter.isWaiting)
            assertState(condition, isLocked = false, waiting = 1)
            assertTrue(condition.mutex.tryLock())
            assertState(condition, isLocked = true, waiting = 1)
        }

    @Test
    fun await_othersQueueForTheMutex_handsItToTheFirst() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            condition.mutex.lock()
            for (name in listOf("a", "b")) callers.call(name) { condition.mutex.lock() }
            val waiter = callers.callAtOnce { condition.await() }
            assertState(condition, isLocked = true, queued = 1, waiting = 1)
            runCurrent()
            assertEquals(listOf("a"), callers.served)
            assertTrue(waiter.isWaiting)
        }

    @Test
    fun signal_waiterComesBack_whenTheSignallerUnlocks() =
        runTest {
            val condition = condition()
            val waiter = Callers(this).call { condition.mutex.lock().also { condition.await() } }
            condition.mutex.lock()
            condition.signal()
            runCurrent()
            assertTrue(waiter.isWaiting)
            assertState(condition, isLocked = true, queued = 1)
            condition.mutex.unlock()
            assertState(condition, isLocked = true)
            runCurrent()
            assertTrue(waiter.isServed)
            assertState(condition, isLocked = true)
            condition.mutex.unlock()
            assertState(condition, isLocked = false)
        }

    @Test
    fun signal_severalWait_comeBackInTheOrderTheyCame() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            for (name in listOf("a", "b", "c", "d")) callers.visitor(condition, name)
            for (turn in 1..4) {
                condition.lockAndSignal()
                runCurrent()
                assertEquals(listOf("a", "b", "c", "d").take(turn), callers.served)
                assertState(condition, isLocked = false, waiting = 4 - turn)
            }
        }

    @Test
    fun signal_nobodyWaits_isForgotten() =
        runTest {
            val condition = condition()
            condition.lockAndSignal()
            val waiter = Callers(this).visitor(condition)
            assertTrue(waiter.isWaiting)
            assertState(condition, isLocked = false, waiting = 1)
        }

    @Test
    fun signal_twiceByOneHolder_letsTwoGo() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            for (name in listOf("a", "b", "c")) callers.visitor(condition, name)
            condition.mutex.lock()
            repeat(2) { condition.signal() }
            assertState(condition, isLocked = true, queued = 2, waiting = 1)
            condition.mutex.unlock()
            runCurrent()
            assertEquals(listOf("a", "b"), callers.served)
        }

    @Test
    fun signal_moreOftenThanThereAreWaiters_leavesNothingForLater() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            callers.visitor(condition, "a")
            condition.mutex.lock()
            repeat(3) { condition.signal() }
            condition.mutex.unlock()
            runCurrent()
            callers.visitor(condition, "b")
            assertEquals(listOf("a"), callers.served)
            assertState(condition, isLocked = false, waiting = 1)
        }

    @Test
    fun signalAll_letsAllGo_oneAfterTheOther() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            for (name in listOf("a", "b", "c")) {
                callers.call(name) {
                    condition.mutex.lock()
                    condition.await()
                }
            }
            condition.mutex.lock()
            condition.signalAll()
            assertState(condition, isLocked = true, queued = 3)
            for (turn in 1..3) {
                condition.mutex.unlock()
                runCurrent()
                assertEquals(listOf("a", "b", "c").take(turn), callers.served)
                assertState(condition, isLocked = true, queued = 3 - turn)
            }
        }

    @Test
    fun signalAll_nobodyWaits_isForgotten() =
        runTest {
            val condition = condition()
            condition.mutex.lock()
            condition.signalAll()
            condition.mutex.unlock()
            assertTrue(Callers(this).visitor(condition).isWaiting)
        }

    @Test
    fun signal_othersQueueForTheMutex_goBeforeTheSignalled() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            callers.visitor(condition, "signalled")
            condition.mutex.lock()
            callers.call("before") { condition.mutex.lock().also { condition.mutex.unlock() } }
            condition.signal()
            callers.call("after") { condition.mutex.lock().also { condition.mutex.unlock() } }
            condition.mutex.unlock()
            runCurrent()
            assertEquals(listOf("before", "signalled", "after"), callers.served)
        }

    @Test
    fun await_again_goesToTheEndOfTheLine() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            callers.call("a") {
                condition.mutex.lock()
                repeat(2) { condition.await() }
                condition.mutex.unlock()
            }
            callers.visitor(condition, "b")
            repeat(3) {
                condition.lockAndSignal()
                runCurrent()
            }
            assertEquals(listOf("b", "a"), callers.served)
        }

    @Test
    fun await_afterASignalOfItsOwn_isNotWokenByIt() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            callers.visitor(condition, "first")
            val signaller =
                callers.call("signaller") {
                    condition.mutex.lock()
                    condition.signal()
                    condition.await()
                }
            assertEquals(listOf("first"), callers.served)
            assertTrue(signaller.isWaiting)
            assertState(condition, isLocked = false, waiting = 1)
        }

    /** Two callers alternate: each signals the other and waits for it. */
    @Test
    fun await_pingPong_takesTurns() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            val log = mutableListOf<String>()
            for (name in listOf("ping", "pong")) {
                callers.call(name) {
                    condition.mutex.lock()
                    repeat(3) {
                        log += name
                        condition.signal()
                        condition.await()
                    }
                    condition.signal()
                    condition.mutex.unlock()
                }
            }
            condition.lockAndSignal()
            runCurrent()
            assertEquals(List(3) { listOf("ping", "pong") }.flatten(), log)
            assertState(condition, isLocked = false)
        }

    @Test
    fun mutexIsFree_awaitAndSignals_throwAndChangeNothing() =
        runTest {
            val condition = condition("account", "enough")
            repeat(2) {
                val failures =
                    listOf(
                        assertThrows<IllegalStateException> { condition.await() },
                        assertThrows<IllegalStateException> { condition.signal() },
                        assertThrows<IllegalStateException> { condition.signalAll() },
                    )
                for (failure in failures) assertContains(failure.message, "account")
                assertState(condition, isLocked = false)
            }
            Callers(this).visitor(condition)
            assertThrows<IllegalStateException> { condition.await() }
            assertThrows<IllegalStateException> { condition.signal() }
            assertThrows<IllegalStateException> { condition.signalAll() }
            assertState(condition, isLocked = false, waiting = 1)
        }

    @Test
    fun unlock_twiceWhileTheSignalledQueue_letsThemPass() =
        runTest {
            val callers = Callers(this)
            val condition = condition()
            for (name in listOf("a", "b")) callers.call(name) { condition.mutex.lock().also { condition.await() } }
            condition.mutex.lock()
            condition.signalAll()
            repeat(2) { condition.mutex.unlock() }
            runCurrent()
            assertEquals(listOf("a", "b"), callers.served)
            assertState(condition, isLocked = true)
        }

    @Test
    fun toString_inEveryState_showsIt() =
        runTest {
            val condition = condition("account", "enough")
            assertContains(condition.toString(), "Condition 'enough' (waiting = 0) of Mutex 'account' (free)")
            Callers(this).visitor(condition)
            condition.mutex.lock()
            val held = "Condition 'enough' (waiting = 1) of Mutex 'account' (locked, waiting = 0)"
            assertContains(condition.toString(), held)
            assertContains(condition().toString(), "Condition (waiting = 0) of Mutex (free)")
        }
}
