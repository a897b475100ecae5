package baton.sync.condition

import baton.sync.assertContains
import kotlinx.coroutines.test.runCurrent
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** A waiter gives up the mutex; a signalled one returns with it, as the owner it was: first come, first signalled. */
interface ConditionSignals : ConditionFixture {
    @Test
    fun await_mutexIsFreeMeanwhile() = scene {
        come("a")
        assert("", waiting = 1)
        assertTrue(mutex.tryLock())
        assert("", isLocked = true, waiting = 1)
    }

    @Test
    fun await_othersQueueForTheMutex_handsItToTheFirst() = scene {
        mutex.lock("holder")
        for (name in listOf("a", "b")) callers.call(name) { mutex.lock(name) }
        val waiter = callers.callAtOnce { condition.await() }
        assertEquals("a", mutex.holder)
        assert("a", isLocked = true, queued = 1, waiting = 1)
        assertTrue(waiter.isWaiting)
    }

    @Test
    fun signal_waiterReturns_whenTheSignallerUnlocksAsTheOwnerItWas() = scene {
        for (owner in listOf("a", null)) {
            val waiter = callers.call { mutex.lock(owner).also { condition.await() } }
            assertNull(mutex.holder)
            hold {
                signal()
                scope.runCurrent()
                assertTrue(waiter.isWaiting)
                assertEquals("holder", condition.mutex.holder)
                assertState(condition, isLocked = true, queued = 1)
            }
            assertEquals(owner, mutex.holder)
            assertState(condition, isLocked = true)
            scope.runCurrent()
            assertTrue(waiter.isServed)
            assertState(condition, isLocked = true)
            mutex.unlock(owner)
            assertState(condition, isLocked = false)
        }
    }

    @Test
    fun signal_anyNumberOfTimes_wakesOnlyCurrentWaiters() {
        for (signals in 0..4) {
            scene {
                come("a", "b", "c")
                val woken = signals.coerceAtMost(3)
                hold {
                    repeat(signals) { signal() }
                    assertState(condition, isLocked = true, queued = woken, waiting = 3 - woken)
                }
                val served = listOf("a", "b", "c").take(woken).joinToString(" ")
                assert(served, waiting = 3 - woken)
                come("late")
                assert(served, waiting = 4 - woken)
            }
        }
    }

    @Test
    fun signalAll_wakesAllThatWaitThen_oneAfterTheOther() = scene {
        hold { signalAll() }
        for (name in listOf("a", "b", "c")) callers.call(name) { mutex.lock(name).also { condition.await() } }
        hold { signalAll().also { assertState(condition, isLocked = true, queued = 3) } }
        for ((i, name) in listOf("a", "b", "c").withIndex()) {
            assert(listOf("a", "b", "c").take(i + 1).joinToString(" "), isLocked = true, queued = 2 - i)
            assertEquals(name, mutex.holder)
            mutex.unlock(name)
        }
        assert("a b c")
    }

    @Test
    fun signal_othersQueueForTheMutex_signalledStandsBetweenThoseBeforeAndAfter() = scene {
        come("signalled")
        hold {
            pass("before")
            signal()
            pass("after")
        }
        assert("before signalled after")
    }

    @Test
    fun await_again_goesToTheEndOfTheQueue() = scene {
        callers.call("a") {
            mutex.lock()
            repeat(2) { condition.await() }
            mutex.unlock()
        }
        come("b")
        repeat(3) {
            hold { signal() }
            scope.runCurrent()
        }
        assert("b a")
    }

    @Test
    fun await_afterASignalOfItsOwn_isNotWokenByIt() = scene {
        come("first")
        val signaller =
            callers.call("signaller") {
                mutex.lock()
                condition.signal()
                condition.await()
            }
        assert("first", waiting = 1)
        assertTrue(signaller.isWaiting)
    }

    /** Two callers alternate: each signals the other and waits for it. */
    @Test
    fun await_pingPong_takesTurns() = scene {
        val log = mutableListOf<String>()
        for (name in listOf("ping", "pong")) {
            callers.call(name) {
                mutex.lock()
                repeat(3) {
                    log += name
                    condition.signal()
                    condition.await()
                }
                condition.signal()
                mutex.unlock()
            }
        }
        hold { signal() }
        assert("ping pong")
        assertEquals(List(3) { listOf("ping", "pong") }.flatten(), log)
    }

    /** For the mutex it would be locking twice; but the waiter waits until the other caller has unlocked. */
    @Test
    fun signal_bySameOwnerAsTheWaiters_isNotLockingTwice() = scene {
        come("holder")
        hold { signal().also { assertState(condition, isLocked = true, queued = 1) } }
        assert("holder")
    }

    @Test
    fun mutexIsFree_awaitAndSignals_throwAndChangeNothing() = scene {
        val condition = condition("account", "enough")
        for (waiting in 0..1) {
            val calls =
                listOf<suspend () -> Unit>({ condition.await() }, { condition.signal() }, { condition.signalAll() })
            for (call in calls) {
                assertContains(assertThrows<IllegalStateException> { call() }.message, "account")
                assertState(condition, isLocked = false, waiting = waiting)
            }
            callers.call { condition.visit() }
        }
    }

    @Test
    fun toString_inEveryState_showsIt() = scene {
        val condition = condition("account", "enough")
        assertContains(condition.toString(), "Condition 'enough' (waiting = 0) of Mutex 'account' (free)")
        callers.call { condition.visit() }
        condition.mutex.lock()
        val held = "Condition 'enough' (waiting = 1) of Mutex 'account' (locked, waiting = 0)"
        assertContains(condition.toString(), held)
        assertContains(condition().toString(), "Condition (waiting = 0) of Mutex (free)")
    }
}
