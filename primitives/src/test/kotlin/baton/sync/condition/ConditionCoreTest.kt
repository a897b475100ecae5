package baton.sync.condition

import baton.sync.Mutex
import baton.waiting.FakeWaiter
import baton.waiting.SignalWaiter
import baton.waiting.Waiter
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Moments after a canceller's compare-and-set and before it gets the lock, and the edges of the counters. */
class ConditionCoreTest {
    private val mutex = Mutex()
    private val core = mutex.newCondition().core

    /** A future: one waiter for both queues. */
    private open inner class Future : SignalWaiter(core, owner = null) {
        var resumed = 0

        override fun resume(): Boolean {
            resumed++
            return true
        }

        override fun resumeFailed() = Unit
    }

    /** A coroutine: [entrant] gets the mutex. */
    private inner class Coroutine : Future() {
        val entrant = FakeWaiter(mutex.core)

        override fun leaveMutex(owner: Any?) = entrant.startWaiting()

        override fun signal() = grantQueued()

        override fun entrant(signalled: Boolean): Waiter = entrant
    }

    private fun <W : Future> W.await(): W {
        check(mutex.tryLock())
        assertEquals(Waiter.WAITING, core.enqueue(this))
        return this
    }

    private fun Future.cancel() = assertEquals(Waiter.WAITING, withdraw(Waiter.CANCELLED))

    private fun assertState(queued: Int, waiting: Int) =
        assertEquals("queued = $queued, waiting = $waiting", "queued = ${mutex.waiting}, waiting = ${core.waiting}")

    @Test
    fun cancel_coroutineWithoutASignal_entersTheMutexOnceAndLeavesTheSignal() {
        val cancelled = Coroutine().await()
        val next = Coroutine().await()
        check(mutex.tryLock())
        cancelled.cancel()
        assertState(queued = 1, waiting = 1)
        assertTrue(core.signal(all = false))
        assertState(queued = 2, waiting = 0)
        repeat(3) { mutex.unlock() }
        assertEquals(listOf(1, 1), listOf(cancelled, next).map { it.entrant.resumed })
        assertEquals(Waiter.GRANTED, next.currentState)
        assertFalse(mutex.isLocked)
    }

    @Test
    fun cancel_signalledFuture_leavesTheMutexsQueueAndPassesTheSignalOn() {
        val cancelled = Future().await()
        val next = Future().await()
        check(mutex.tryLock())
        assertTrue(core.signal(all = false))
        assertState(queued = 1, waiting = 1)
        cancelled.cancel()
        assertState(queued = 1, waiting = 0)
        mutex.unlock()
        assertEquals(listOf(0, 1), listOf(cancelled, next).map { it.resumed })
    }

    @Test
    fun unlock_signalledFuture_isGrantedAndCannotBeCancelledAnyMore() {
        val signalled = Future().await()
        check(mutex.tryLock())
        core.signal(all = false)
        mutex.unlock()
        assertEquals(Waiter.GRANTED, signalled.withdraw(Waiter.CANCELLED))
        assertTrue(mutex.isLocked)
        assertEquals(1, signalled.resumed)
    }

    @Test
    fun enqueue_withdrawnBefore_coroutineKeepsTheMutexAndFutureGivesItUp() {
        for (waiter in listOf(Coroutine(), Future())) {
            check(mutex.tryLock())
            waiter.withdraw(Waiter.TIMED_OUT)
            assertEquals(Waiter.TIMED_OUT, core.enqueue(waiter))
            assertState(queued = 0, waiting = 0)
            assertEquals(waiter is Coroutine, mutex.isLocked)
            if (mutex.isLocked) mutex.unlock()
        }
    }

    @Test
    fun enqueue_futureOfAnotherOwner_isRefused() {
        check(mutex.tryLock("another"))
        assertEquals(Waiter.FAILED, core.enqueue(Future()))
        assertEquals("another", mutex.holder)
        assertState(queued = 0, waiting = 0)
    }
}
