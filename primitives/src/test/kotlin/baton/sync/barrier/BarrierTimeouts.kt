package baton.sync.barrier

import baton.NOW_OR_NEVER
import baton.sync.BarrierBrokenException
import baton.sync.BarrierCancellation
import baton.sync.BarrierCancellation.BREAK
import baton.sync.BarrierTimeoutException
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Waiting for a limited time, in virtual time: what the other parties see of it. */
interface BarrierTimeouts : BarrierFixture {
    @Test
    fun timed_last_tripsAtOnce() {
        for (timeout in NOW_OR_NEVER + 50.milliseconds) {
            scene(2) {
                come("other")
                assertTrue(callers.callAtOnce("last") { check(barrier.arrive(timeout) == 0) }.isServed)
                assert("last other")
            }
        }
    }

    @Test
    fun timed_othersDoNotCome_retractsOrBreaksAtTheDeadline() {
        for (timeout in NOW_OR_NEVER + 50.milliseconds) {
            eachReaction(3) { onCancel ->
                come("other")
                val timed = callers.call("timed") { barrier.arrive(timeout) }
                if (timeout.isPositive()) {
                    scope.advanceTimeBy(50)
                    assertTrue(timed.isWaiting)
                    assertState(waiting = 2)
                }
                scope.runCurrent()
                val e = assertInstanceOf(BarrierTimeoutException::class.java, timed.failure)
                if (timeout.isPositive()) assertTrue("50ms" in e.message!! && "page" in e.message!!) { e.message }
                assertEquals(if (timeout.isPositive()) 50 else 0, scope.currentTime)
                assert("", waiting = if (onCancel == BREAK) 0 else 1, isBroken = onCancel == BREAK)
                if (onCancel == BREAK) {
                    assertInstanceOf(BarrierTimeoutException::class.java, broken("other").single().cause)
                    assertThrows<BarrierBrokenException> { barrier.arrive(timeout) }
                }
            }
        }
    }

    @Test
    fun timed_whileTheActionRuns_leavesWithoutHarm() =
        scene(3, isGated = true) {
            val timed = callers.call("timed") { barrier.arrive(50.milliseconds) }
            come("a", "b")
            scope.advanceTimeBy(51)
            assertInstanceOf(BarrierTimeoutException::class.java, timed.failure)
            assertState(waiting = 1)
            open(0)
            scope.runCurrent()
            assertEquals(setOf("a", "b"), callers.served.toSet())
        }

    @Test
    fun timed_lastWhoseActionTakesLonger_isNotTimedOut() = runTest {
        val barrier = barrier(1, BarrierCancellation.BREAK) { delay(1000) }
        assertEquals(0, barrier.arrive(50.milliseconds))
        assertEquals(1000, currentTime)
    }

    @Test
    fun timed_comesToLeadAfterAnotherAction_isNotTimedOutInItsOwn() =
        scene(1, isGated = true) {
            for (name in listOf("a", "b")) callers.call(name) { barrier.arrive(50.milliseconds) }
            scope.advanceTimeBy(40)
            open(0)
            scope.advanceTimeBy(40)
            open(1)
            assert("a b")
        }
}
