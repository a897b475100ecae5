package baton.sync.condition

import baton.sync.assertContains
import kotlin.coroutines.cancellation.CancellationException
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** A cancelled coroutine gets the mutex back before it throws; a cancelled future does not. */
interface ConditionReturn : ConditionFixture {
    private fun ConditionScene.lockAndAwait(owner: Any?) = callers.call { mutex.lock(owner).also { condition.await() } }

    /** cpython bpo-22970: a wait that was cancelled while it took the lock again threw without the lock. */
    @Test
    fun cancel_mutexIsFreeOrHeld_throwsWhenItHoldsItAsTheOwnerItWas() {
        for (owner in listOf(null, "a")) {
            for (wakes in listOf(false, true)) {
                scene {
                    val free = lockAndAwait(owner)
                    free.cancel()
                    assertEquals(owner, mutex.holder)
                    assert("", isLocked = true)
                    assertTrue(free.isCancelled)
                    mutex.unlock(owner)
                    val waiter = lockAndAwait(owner)
                    hold {
                        if (wakes) signal()
                        waiter.cancel()
                        scope.runCurrent()
                        assertTrue(waiter.isWaiting)
                        assertState(condition, isLocked = true, queued = 1)
                    }
                    assertEquals(owner, mutex.holder)
                    assert("", isLocked = true)
                    assertTrue(waiter.isCancelled)
                }
            }
        }
    }

    @Test
    fun cancel_whileOthersQueue_goesToTheEndOfTheQueue() = scene {
        val log = mutableListOf<String>()
        val waiter =
            callers.call {
                try {
                    condition.visit()
                } finally {
                    log += "cancelled"
                }
            }
        hold {
            callers.call { condition.mutex.lock().also { log += "before" }.also { condition.mutex.unlock() } }
            waiter.cancel()
            callers.call { condition.mutex.lock().also { log += "after" }.also { condition.mutex.unlock() } }
        }
        scope.runCurrent()
        assertEquals(listOf("before", "cancelled", "after"), log)
    }

    @Test
    fun cancel_signalled_signalIsElsewhereBeforeItThrows() = scene {
        var seen: String? = null
        val signalled =
            callers.call("signalled") {
                mutex.lock()
                try {
                    condition.await()
                } catch (e: CancellationException) {
                    seen = "queued = ${mutex.waiting}, waiting = ${condition.waiting}"
                    throw e
                }
            }
        come("a", "b")
        hold { signal() }
        signalled.cancel()
        scope.runCurrent()
        assertEquals("queued = 1, waiting = 1", seen)
    }

    @Test
    fun await_alreadyCancelled_throwsAtOnceAndKeepsTheMutex() {
        for (owner in listOf(null, "a")) {
            scene {
                val caller =
                    callers.callAtOnce {
                        mutex.lock(owner)
                        currentCoroutineContext().job.cancel()
                        callers.callAtOnce { mutex.lock("next") }
                        condition.await()
                    }
                assertTrue(caller.isCancelled)
                assertEquals(owner, mutex.holder)
                assertState(condition, isLocked = true, queued = 1)
                mutex.unlock(owner)
                assertEquals("next", mutex.holder)
            }
        }
    }

    @Test
    fun await_alreadyCancelledAndMutexIsFree_isMisuseAllTheSame() = scene {
        val caller =
            callers.call("caller") {
                currentCoroutineContext().job.cancel()
                assertContains(assertThrows<IllegalStateException> { condition.await() }.message, "await")
            }
        assertTrue(caller.isServed)
        assert("caller")
    }

    @Test
    fun cancel_whileTheSameOwnerHolds_isNotLockingTwice() = scene {
        come("holder")
        hold {
            cancel("holder")
            scope.runCurrent()
        }
        assert("")
        assertTrue(get("holder").isCancelled)
    }

    @Test
    fun await_withinWithTimeout_holdsTheMutexAfterIt() = scene {
        mutex.lock("a")
        assertNull(withTimeoutOrNull(50) { condition.await() })
        assertEquals("a", mutex.holder)
        assert("", isLocked = true)
    }

    /** No caller may unlock for another. If one does, the returning waiter still finds a consistent mutex. */
    @Test
    fun unlock_byAnotherCallerBeforeTheReturn_signalIsStillPassedOn() = scene {
        val signalled = lockAndAwait(null)
        come("next")
        hold { signal() }
        mutex.unlock()
        signalled.cancel()
        assert("next")
        assertTrue(signalled.isCancelled)
    }
}
