package baton.sync.countdown

import baton.sync.assertState
import baton.waiting.Callers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A cancelled caller throws, at whatever moment it was cancelled, and no other caller notices. */
interface CountdownCancellation : CountdownFixture {
    @Test
    fun cancel_onlyWaiter_throwsAndLeavesNothing() =
        runTest {
            val countdown = countdown(1)
            val waiter = Callers(this).call { countdown.await() }
            waiter.cancel()
            assertState(countdown, count = 1, waiting = 0)
            runCurrent()
            assertTrue(waiter.isCancelled)
            countdown.down()
            assertState(countdown, count = 0)
        }

    @Test
    fun cancel_anyOneOfFive_keepsTheOrderOfTheOthers() =
        runTest {
            for (leaver in 0..4) {
                val callers = Callers(this)
                val countdown = countdown(1)
                val waiters = List(5) { i -> callers.call("$i") { countdown.await() } }
                waiters[leaver].cancel()
                assertState(countdown, count = 1, waiting = 4)
                countdown.down()
                runCurrent()
                assertEquals((0..4).filter { it != leaver }.map { "$it" }, callers.served)
                assertTrue(waiters[leaver].isCancelled)
            }
        }

    @Test
    fun cancel_allWaiters_newcomersAreLetIn() =
        runTest {
            val countdown = countdown(1)
            val waiters = List(3) { Callers(this).call { countdown.await() } }
            waiters.forEach { it.cancel() }
            assertState(countdown, count = 1, waiting = 0)
            val newcomer = Callers(this).call { countdown.await() }
            assertState(countdown, count = 1, waiting = 1)
            countdown.down()
            runCurrent()
            assertTrue(waiters.all { it.isCancelled })
            assertTrue(newcomer.isServed)
        }

    @Test
    fun cancel_betweenZeroAndResumption_throwsAndTheOthersAreLetIn() =
        runTest {
            for (leaver in 0..2) {
                val callers = Callers(this)
                val countdown = countdown(1)
                val waiters = List(3) { i -> callers.call("$i") { countdown.await() } }
                countdown.down()
                waiters[leaver].cancel()
                assertState(countdown, count = 0)
                runCurrent()
                assertTrue(waiters[leaver].isCancelled)
                assertEquals((0..2).filter { it != leaver }.map { "$it" }, callers.served)
                assertState(countdown, count = 0)
            }
        }

    @Test
    fun cancel_oneThatWasLetIn_changesNothing() =
        runTest {
            val countdown = countdown(1)
            val waiter = Callers(this).call { countdown.await() }
            countdown.down()
            runCurrent()
            waiter.cancel()
            runCurrent()
            assertTrue(waiter.isServed)
            assertState(countdown, count = 0)
        }

    @Test
    fun await_alreadyCancelledAndAtZero_returns() =
        runTest {
            val countdown = countdown(0)
            val caller =
                Callers(this).call {
                    currentCoroutineContext().job.cancel()
                    countdown.await()
                }
            assertTrue(caller.isServed)
        }

    @Test
    fun await_alreadyCancelledAndMustWait_throwsAndLeavesNothing() =
        runTest {
            val countdown = countdown(1)
            val caller =
                Callers(this).call {
                    currentCoroutineContext().job.cancel()
                    countdown.await()
                }
            assertTrue(caller.isCancelled)
            assertState(countdown, count = 1)
        }

    @Test
    fun await_nonCancellable_waitsOnAndIsLetIn() =
        runTest {
            val countdown = countdown(1)
            val caller = Callers(this).call { withContext(NonCancellable) { countdown.await() } }
            caller.cancel()
            runCurrent()
            assertTrue(caller.isWaiting)
            assertState(countdown, count = 1, waiting = 1)
            countdown.down()
            runCurrent()
            assertState(countdown, count = 0)
        }

    @Test
    fun await_withinWithTimeout_leaves() =
        runTest {
            val countdown = countdown(1)
            assertNull(withTimeoutOrNull(50) { countdown.await() })
            assertState(countdown, count = 1)
        }
}
