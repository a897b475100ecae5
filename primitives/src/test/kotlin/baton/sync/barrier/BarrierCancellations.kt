package baton.sync.barrier

import baton.sync.Barrier
import baton.sync.BarrierCancellation
import baton.sync.BarrierCancellation.BREAK
import baton.sync.BarrierCancellation.RETRACT
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.sync.readwrite.contract.cancelled
import baton.waiting.Callers
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A cancelled party takes its arrival back, or breaks the barrier; and cannot harm parties that were released. */
interface BarrierCancellations : BarrierFixture {
    @Test
    fun cancel_retracting_isAsIfItHadNeverCome() =
        runTest {
            val barrier = barrier(3)
            val waiters = List(2) { Callers(this).call { barrier.arrive() } }
            waiters[0].cancel()
            assertState(barrier, waiting = 1)
            val second = Callers(this).call { barrier.arrive() }
            assertTrue(waiters[0].isCancelled && waiters[1].isWaiting && second.isWaiting)
            assertTrue(Callers(this).callAtOnce { barrier.arrive() }.isServed)
            runCurrent()
            assertTrue(waiters[1].isServed && second.isServed)
        }

    @Test
    fun cancel_retractingAnyOne_numbersOfTheOthersStayUniqueAndInOrder() =
        runTest {
            for (leaver in 0..3) {
                val barrier = barrier(4)
                val seen = mutableListOf<Int>()
                val waiters = List(3) { Callers(this).call { seen += barrier.arrive() } }
                waiters.getOrNull(leaver)?.cancel()
                repeat(barrier.parties - barrier.waiting) { Callers(this).callAtOnce { seen += barrier.arrive() } }
                runCurrent()
                assertEquals(listOf(0, 3, 2, 1), seen, "$leaver")
            }
        }

    @Test
    fun cancel_retractingAll_leavesNothing() =
        runTest {
            val barrier = barrier(3)
            val waiters = List(2) { Callers(this).call { barrier.arrive() } }
            waiters.forEach { it.cancel() }
            assertState(barrier, waiting = 0)
            runCurrent()
            assertTrue(waiters.all { it.isCancelled })
            Callers(this).assertWhole(barrier)
        }

    @Test
    fun cancel_breaking_othersFailAtOnceWithTheCause() =
        runTest {
            for (leaver in 0..2) {
                val barrier = barrier(4, BREAK, "page")
                val waiters = List(3) { Callers(this).call { barrier.arrive() } }
                waiters[leaver].cancel()
                assertState(barrier, waiting = 0, isBroken = true)
                runCurrent()
                assertTrue(waiters[leaver].isCancelled)
                for (other in waiters - waiters[leaver]) {
                    val e = assertBroken(other)
                    assertEquals("Barrier 'page' is broken: a party was cancelled", e.message)
                    assertInstanceOf(CancellationException::class.java, e.cause)
                }
            }
        }

    @Test
    fun arrive_broken_isRefusedUntilReset() =
        runTest {
            val barrier = barrier(2, BREAK)
            Callers(this).call { barrier.arrive() }.cancel()
            repeat(3) {
                assertInstanceOf(
                    CancellationException::class.java,
                    assertBroken(Callers(this).callAtOnce { barrier.arrive() }).cause,
                )
            }
            assertState(barrier, waiting = 0, isBroken = true)
            barrier.reset()
            Callers(this).assertWhole(barrier)
        }

    @Test
    fun cancel_letGoButNotRunYet_throwsAndTheOthersGoOn() =
        runTest {
            for (onCancel in BarrierCancellation.entries) {
                val barrier = barrier(3, onCancel)
                val waiters = List(2) { Callers(this).call { barrier.arrive() } }
                assertTrue(Callers(this).callAtOnce { barrier.arrive() }.isServed)
                waiters[0].cancel()
                runCurrent()
                assertTrue(waiters[0].isCancelled)
                assertTrue(waiters[1].isServed)
                Callers(this).assertWhole(barrier)
            }
        }

    @Test
    fun cancel_afterItWentOn_changesNothing() =
        runTest {
            val barrier = barrier(2, BREAK)
            val waiter = Callers(this).call { barrier.arrive() }
            barrier.arrive()
            runCurrent()
            waiter.cancel()
            Callers(this).assertWhole(barrier)
        }

    @Test
    fun arrive_cancelledAlreadyAndNotLast_throwsAndRetractsOrBreaks() =
        runTest {
            for (onCancel in BarrierCancellation.entries) {
                val barrier = barrier(3, onCancel)
                val other = Callers(this).call { barrier.arrive() }
                val caller =
                    Callers(this).call {
                        currentCoroutineContext().job.cancel()
                        barrier.arrive()
                    }
                assertTrue(caller.isCancelled)
                assertState(barrier, waiting = if (onCancel == BREAK) 0 else 1, isBroken = onCancel == BREAK)
                if (onCancel == BREAK) assertBroken(other) else assertTrue(other.isWaiting)
            }
        }

    @Test
    fun arrive_nonCancellable_waitsOn() =
        runTest {
            val barrier = barrier(2, BREAK)
            val caller = Callers(this).call { withContext(NonCancellable) { barrier.arrive() } }
            caller.cancel()
            runCurrent()
            assertTrue(caller.isWaiting)
            assertState(barrier, waiting = 1)
            barrier.arrive()
            runCurrent()
            assertFalse(caller.isWaiting)
            assertState(barrier, waiting = 0)
        }

    @Test
    fun arrive_withinWithTimeout_takesItsArrivalBack() =
        runTest {
            val barrier = barrier(2, RETRACT)
            assertNull(withTimeoutOrNull(50) { barrier.arrive() })
            assertState(barrier, waiting = 0)
            Callers(this).assertWhole(barrier)
        }

    /** Every one of many, one after the other, and a new one in its place. */
    @Test
    fun cancel_allInTurn_neverTripsBeforeAllAreThere() =
        runTest {
            val barrier = barrier(4)
            val callers = Callers(this)
            var waiters = List(3) { callers.call { barrier.arrive() } }
            repeat(20) { round ->
                waiters[round % 3].cancel()
                runCurrent()
                waiters = waiters.filter { it.isWaiting } + callers.call { barrier.arrive() }
                assertState(barrier, waiting = 3)
                assertEquals(0, callers.served.size)
            }
            barrier.arrive()
            runCurrent()
            assertEquals(3, callers.served.size)
        }
}
