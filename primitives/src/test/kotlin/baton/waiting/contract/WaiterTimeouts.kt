package baton.waiting.contract

import baton.NOW_OR_NEVER
import kotlin.time.Duration
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.currentTime
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Waiting for a limited time, in virtual time. */
interface WaiterTimeouts : WaiterFixture {
    @Test
    fun timed_canBeServed_isServedAtOnce() =
        eachKind(NOW_OR_NEVER + listOf(50.milliseconds, Duration.INFINITE)) { timeout ->
            if (!kind.keepsGrant) return@eachKind
            place.grant()
            assertTrue(callers.callAtOnce { place.waitHere(timeout) }.isServed)
            assertIdle()
        }

    @Test
    fun timed_zeroOrNegative_isNowOrNotAtAll() =
        eachKind(NOW_OR_NEVER) { timeout ->
            repeat(2) { others ->
                assertFalse(place.waitHere(timeout))
                assertWaiting(others)
                waiter("$others")
            }
            assertEquals(0, scope.currentTime)
            serveAll()
            assertServed(0, 1)
            assertIdle()
        }

    @Test
    fun timed_notGranted_givesUpAtTheDeadlineRoundedUp() =
        eachKind(listOf(1, 999_999, 1_000_000, 2_000_001, 50_000_000)) { nanos ->
            val caller = timed(nanos.nanoseconds)
            scope.advanceTimeBy((nanos + 999_999L) / 1_000_000)
            assertTrue(caller.isWaiting)
            assertWaiting(1)
            run()
            assertTrue(caller.gaveUp)
            assertIdle()
        }

    @Test
    fun timed_grantedBeforeTheDeadline_isServedThen() = eachKind {
        scope.launch {
            delay(49)
            place.grant()
        }
        assertTrue(place.waitHere(50.milliseconds))
        assertEquals(49, scope.currentTime)
        scope.advanceTimeBy(1_000)
        assertIdle(holders = 1)
    }

    @Test
    fun timed_grantedAtTheDeadline_firstOfTheTwoDecides() =
        eachKind(listOf(true, false)) { isGrantedFirst ->
            val grant = suspend {
                delay(50)
                place.grant()
            }
            if (isGrantedFirst) scope.backgroundScope.launch { grant() }
            run()
            val caller = timed(50.milliseconds)
            if (!isGrantedFirst) scope.backgroundScope.launch { grant() }
            scope.advanceTimeBy(100)
            assertEquals(isGrantedFirst, caller.isServed)
            assertEquals(!isGrantedFirst, caller.gaveUp)
            assertIdle()
        }

    @Test
    fun timed_deadlinePassesBetweenGrantAndResumption_isServed() = eachKind {
        val caller = timed(50.milliseconds)
        scope.advanceTimeBy(50)
        place.grant()
        scope.advanceTimeBy(100)
        assertTrue(caller.isServed)
        assertIdle()
    }

    @Test
    fun timed_hugeOrInfinite_waitsAsWithoutATimeout() =
        eachKind(listOf(Duration.INFINITE, (Long.MAX_VALUE / 2 - 1).milliseconds)) { timeout ->
            val caller = timed(timeout)
            scope.advanceTimeBy(36_500.days)
            assertTrue(caller.isWaiting)
            place.grant()
            run()
            assertTrue(caller.isServed)
            assertIdle()
        }

    @Test
    fun timed_severalInACrowd_giveUpOneByOneAndTheOthersKeepTheirOrder() = eachKind {
        val timed = List(4) { i -> timed((10 * i + 10).milliseconds, "timed $i").also { waiter("$i") } }
        for (gone in 1..3) {
            scope.advanceTimeBy(10)
            run()
            assertEquals(gone, timed.count { it.gaveUp })
            assertWaiting(8 - gone)
        }
        serveAll()
        assertServed(0, 1, 2, "timed 3", 3)
        scope.advanceTimeBy(100)
        assertIdle()
    }

    @Test
    fun timed_cancelledWhileWaiting_throwsAndStopsItsTimer() = eachKind {
        val caller = timed(50.milliseconds)
        scope.advanceTimeBy(20)
        caller.cancel()
        assertWaiting(0)
        run()
        assertCancelled(caller)
        scope.advanceTimeBy(100)
        assertIdle()
    }

    @Test
    fun timed_cancelledBetweenGrantAndResumption_nextIsServed() = eachKind {
        val granted = timed(50.milliseconds)
        val next = timed(50.milliseconds, "next")
        place.grant()
        granted.cancel()
        run()
        assertCancelled(granted)
        if (!kind.passesOn) serveAll()
        assertTrue(next.isServed)
        scope.advanceTimeBy(100)
        assertIdle()
    }

    @Test
    fun timed_cancelledAlreadyAndMustWait_throwsAndLeavesNothing() = eachKind {
        assertCancelled(cancelled { place.waitHere(50.milliseconds) })
        assertIdle()
    }

    @Test
    fun timed_closedWhileWaiting_fails() = eachKind {
        val closed = kind.closed ?: return@eachKind
        val caller = timed(50.milliseconds)
        place.close(null)
        run()
        assertInstanceOf(closed, caller.failure)
        assertEquals(0, scope.currentTime)
        assertIdle()
    }

    @Test
    fun timed_againAndAgain_leavesNothing() = eachKind {
        repeat(500) { assertFalse(place.waitHere(1.milliseconds)) }
        assertEquals(500, scope.currentTime)
        assertIdle()
    }
}
