package baton.sync.semaphore

import baton.NOW_OR_NEVER
import baton.Priority
import baton.sync.Semaphore
import baton.sync.SemaphoreClosedException
import baton.sync.WaitOrder
import baton.sync.assertState
import baton.waiting.Callers
import baton.waiting.contract.DyingDispatcher
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Promises of the suspend functions alone: an unfair semaphore invites its head, which others may overtake. */
class SuspendingSemaphoreTest {
    private val unfair = Semaphore(1, acquired = 1, order = WaitOrder.UNFAIR)

    @Test
    fun timed_negativeAndClosed_throwsThatItIsClosed() = runTest {
        val semaphore = Semaphore(1).also { it.close() }
        for (timeout in NOW_OR_NEVER) {
            assertThrows<SemaphoreClosedException> { semaphore.tryAcquire(1, timeout) }
        }
    }

    @Test
    fun timed_priority_isTakenFromTheContext() = runTest {
        val callers = Callers(this)
        val semaphore = Semaphore(1, acquired = 1, order = WaitOrder.PRIORITY)
        callers.call("low", Priority.LOW) { semaphore.tryAcquire(1, 50.milliseconds) }
        callers.call("high", Priority.HIGH) { semaphore.tryAcquire(1, 50.milliseconds) }
        repeat(2) {
            semaphore.release()
            runCurrent()
        }
        assertEquals(listOf("high", "low"), callers.served)
    }

    @Test
    fun unfair_releasedAndTheHeadHasNotRun_permitIsAvailableAndOverReleaseThrows() = runTest {
        for (waiters in 0..3) {
            for (n in 1..3) {
                val semaphore = Semaphore(3, acquired = 3, order = WaitOrder.UNFAIR)
                repeat(waiters) { Callers(this).call { semaphore.acquire() } }
                semaphore.release(4 - n)
                assertThrows<IllegalStateException> { semaphore.release(n) }
                assertState(semaphore, available = 4 - n, waiting = waiters)
                runCurrent()
                assertState(semaphore, (4 - n - waiters).coerceAtLeast(0), (waiters - 4 + n).coerceAtLeast(0))
            }
        }
    }

    @Test
    fun unfair_noPermitsLeftWhenTheInvitedHeadRuns_waitsForTheGateToOpen() = runTest {
        val callers = Callers(this)
        callers.call("head") { unfair.acquire() }
        callers.call("idler") { unfair.awaitIdle() }
        unfair.release()
        unfair.resize(0)
        runCurrent()
        assertState(unfair, available = 0, waiting = 1)
        assertEquals(listOf("idler"), callers.served)
        unfair.resize(2)
        runCurrent()
        assertState(unfair, available = 1)
        assertEquals(listOf("idler", "head"), callers.served)
    }

    @Test
    fun unfair_newcomersKeepComing_overtakeEachHeadExactlyAsOftenAsPromised() = runTest {
        val callers = Callers(this)
        for (name in listOf("first", "second")) callers.call(name) { unfair.acquire() }
        for (served in 0..1) {
            repeat(WaitOrder.MAX_OVERTAKES) { assertOvertakes { unfair.tryAcquire() } }
            assertEquals(served, callers.served.size)
            unfair.release()
            assertFalse(unfair.tryAcquire())
            runCurrent()
        }
        assertEquals(listOf("first", "second"), callers.served)
    }

    private fun TestScope.assertOvertakes(acquire: () -> Boolean) {
        unfair.release()
        assertTrue(acquire())
        runCurrent()
    }

    @Test
    fun unfair_suspendingNewcomers_overtakeAsTryAcquireDoes() = runTest {
        val callers = Callers(this)
        val head = callers.call("head") { unfair.acquire() }
        repeat(WaitOrder.MAX_OVERTAKES) {
            assertOvertakes { callers.callAtOnce("newcomer") { unfair.acquire() }.isServed }
            assertState(unfair, available = 0, waiting = 1)
        }
        unfair.release()
        assertTrue(callers.callAtOnce("late") { unfair.acquire() }.isWaiting)
        runCurrent()
        assertTrue(head.isServed)
    }

    @Test
    fun unfair_invitedHeadTimesOut_nextIsServed() = runTest {
        val callers = Callers(this)
        callers.call("timed") { unfair.tryAcquire(1, 50.milliseconds) }
        callers.call("next") { unfair.acquire() }
        advanceTimeBy(50)
        unfair.release()
        runCurrent()
        assertEquals(1, callers.served.size)
        unfair.release()
        runCurrent()
        assertEquals("next", callers.served.last())
    }

    @Test
    fun unfair_dispatcherOfTheInvitedHeadThrows_permitGoesToTheNext() = runTest {
        val dead = DyingDispatcher()
        val callers = Callers(this)
        callers.callAtOnce("dead", dead) { unfair.acquire() }
        callers.call("next") { unfair.acquire() }
        dead.isDead = true
        unfair.release()
        while (callers.served.isEmpty()) Thread.onSpinWait().also { runCurrent() }
        assertEquals(listOf("next"), callers.served)
        assertState(unfair, available = 0)
    }

    @Test
    fun cancel_heavyHeadsDispatcherThrows_placeInTheQueueIsGivenUp() = runTest {
        val dead = DyingDispatcher()
        val semaphore = Semaphore(3, acquired = 2)
        val heavy = Callers(this).callAtOnce("dead", dead) { semaphore.acquire(2) }
        val small = Callers(this).call("small") { semaphore.acquire() }
        dead.isDead = true
        heavy.cancel()
        runCurrent()
        assertTrue(small.isServed)
        assertState(semaphore, available = 0)
    }
}
