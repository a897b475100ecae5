package baton.waiting.contract

import baton.waiting.causes
import kotlin.coroutines.cancellation.CancellationException
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * The rules of waiting, the same for all primitives: first come, first served; and a caller that is cancelled throws
 * and holds nothing, at whatever moment it was cancelled. [WaiterTimeouts] and [WaiterDispatch] continue them.
 */
interface WaiterContract : WaiterFixture {
    @Test
    fun waiters_several_areServedInTheOrderTheyCame() = eachKind {
        waiters(4)
        assertWaiting(4)
        for (turn in if (kind.grantsAll) 4..4 else 1..4) {
            place.grant()
            assertWaiting(4 - turn)
            run()
            assertServed(0..<turn)
        }
        assertIdle()
    }

    @Test
    fun newcomer_grantedWaiterHasNotRun_queuesBehindIt() = eachKind {
        waiter("first")
        place.grant()
        val newcomer = callers.callAtOnce("newcomer") { place.waitHere() }
        if (!kind.keepsGrant) return@eachKind
        if (!kind.grantsAll) {
            assertWaiting(1)
            run()
            assertServed("first")
            assertTrue(newcomer.isWaiting)
            place.grant()
        }
        run()
        assertEquals(setOf("first", "newcomer"), callers.served.toSet())
        assertIdle()
    }

    @Test
    fun newcomer_queueRanEmpty_doesNotWait() =
        eachKind(0..3) { before ->
            if (!kind.keepsGrant) return@eachKind
            waiters(before)
            serveAll()
            if (!kind.grantsAll || before == 0) place.grant()
            assertTrue(callers.callAtOnce { place.waitHere() }.isServed)
            assertIdle()
        }

    @Test
    fun cancel_onlyWaiter_throwsAndLeavesNothing() = eachKind {
        val waiter = waiter()
        waiter.cancel()
        assertWaiting(0)
        run()
        assertCancelled(waiter)
        assertIdle()
    }

    @Test
    fun cancel_anyOneOfFive_keepsTheOrderOfTheOthers() =
        eachKind(0..4) { leaver ->
            val waiters = waiters(5)
            waiters[leaver].cancel()
            assertWaiting(4)
            run()
            assertCancelled(waiters[leaver])
            serveAll()
            assertServed((0..4) - leaver)
            assertIdle()
        }

    @Test
    fun cancel_allInAnyOrder_newcomerIsServed() =
        eachKind(listOf(listOf(0, 1, 2), listOf(2, 1, 0), listOf(1, 0, 2), listOf(1, 2, 0))) { order ->
            val waiters = waiters(3)
            for (i in order) waiters[i].cancel()
            assertWaiting(0)
            run()
            assertCancelled(*waiters.toTypedArray())
            waiter("newcomer")
            assertWaiting(1)
            serveAll()
            assertServed("newcomer")
            assertIdle()
        }

    @Test
    fun cancel_withACause_throwsIt() = eachKind {
        val waiter = waiter()
        waiter.job.cancel(CancellationException("lost interest"))
        run()
        assertCancelled(waiter)
        assertTrue(waiter.failure!!.causes().any { it.message == "lost interest" })
    }

    @Test
    fun cancel_anyOneBetweenGrantAndResumption_othersAreServed() =
        eachKind(0..2) { leaver ->
            val waiters = waiters(3)
            place.grant()
            waiters[leaver].cancel()
            run()
            assertCancelled(waiters[leaver])
            val others = (0..2) - leaver
            if (kind.passesOn || (!kind.grantsAll && leaver > 0)) assertServed(others.first())
            serveAll()
            assertServed(others)
            assertIdle()
        }

    @Test
    fun cancel_betweenGrantAndResumption_grantIsElsewhereBeforeItThrows() = eachKind {
        if (!kind.passesOn) return@eachKind
        var seen = -1
        val granted =
            callers.call {
                try {
                    place.waitHere()
                } catch (e: CancellationException) {
                    seen = place.waiting
                    throw e
                }
            }
        waiters(2)
        place.grant()
        granted.cancel()
        run()
        assertEquals(1, seen)
        assertServed(0)
    }

    /** kotlinx.coroutines #2380, #2390: a permit that became free on the way into the queue was lost by a cancel. */
    @Test
    fun cancel_onlyWaiterAtItsGrant_grantIsThereForTheNext() =
        eachKind(listOf(true, false)) { isGrantedFirst ->
            val waiter = callers.callAtOnce { place.waitHere() }
            if (isGrantedFirst) place.grant()
            waiter.cancel()
            if (!isGrantedFirst) place.grant()
            run()
            assertCancelled(waiter)
            assertIdle()
        }

    /** cats-effect #3564, cpython bpo-27585, asyncio #270: a wakeup that met a cancel was lost, or the order was. */
    @Test
    fun cancel_severalGrantedInARow_nextGetsTheGrant() = eachKind {
        if (!kind.passesOn) return@eachKind
        val waiters = waiters(20)
        place.grant()
        for (i in 0..2) waiters[i].cancel()
        run()
        assertServed(3)
        for (i in 4..<20 step 2) {
            place.grant()
            waiters[i].cancel()
            run()
        }
        assertServed(listOf(3) + (5..<20 step 2))
        assertIdle()
    }

    @Test
    fun cancel_served_keepsItsGrant() = eachKind {
        var isServed = false
        val holder =
            callers.call {
                place.waitHere()
                isServed = true
                awaitCancellation()
            }
        place.grant()
        run()
        holder.cancel()
        run()
        assertTrue(isServed)
        assertIdle(holders = 1)
    }

    @Test
    fun cancelledAlready_canBeServed_isServed() = eachKind {
        if (!kind.keepsGrant) return@eachKind
        place.grant()
        assertTrue(cancelled().isServed)
        assertIdle()
    }

    @Test
    fun cancelledAlready_mustWait_throwsAndLeavesTheOthersInPlace() =
        eachKind(0..2) { others ->
            waiters(others)
            assertCancelled(cancelled())
            assertWaiting(others)
            serveAll()
            assertServed(0..<others)
            assertIdle()
        }

    @Test
    fun cancel_nonCancellable_waitsOnAndIsServed() = eachKind {
        val waiter = callers.call { withContext(NonCancellable) { place.waitHere() } }
        waiter.cancel()
        run()
        assertTrue(waiter.isWaiting)
        assertWaiting(1)
        place.grant()
        run()
        assertIdle(holders = 1)
    }

    @Test
    fun withTimeout_isOver_leavesTheQueue() = eachKind {
        assertNull(withTimeoutOrNull(50.milliseconds) { place.waitHere() })
        assertEquals(50, scope.currentTime)
        assertIdle()
    }

    @Test
    fun close_severalWait_allFailWithTheCause() =
        eachKind(listOf(RuntimeException("going down"), CancellationException("as the cause"), null)) { cause ->
            val closed = kind.closed ?: return@eachKind
            val waiters = waiters(3)
            place.close(cause)
            assertWaiting(0)
            run()
            for (waiter in waiters) {
                assertInstanceOf(closed, waiter.failure)
                assertTrue(waiter.job.isCompleted && !waiter.job.isCancelled)
                val causes = waiter.failure!!.causes()
                assertTrue(if (cause == null) causes.all(closed::isInstance) else cause in causes)
            }
            assertIdle()
        }

    @Test
    fun close_grantedWaiterHasNotRun_isServedUnlessCancelled() =
        eachKind(listOf(false, true)) { isCancelled ->
            if (kind.closed == null) return@eachKind
            val granted = waiter()
            place.grant()
            place.close(null)
            if (isCancelled) granted.cancel()
            run()
            assertEquals(!isCancelled, granted.isServed)
            assertEquals(isCancelled, granted.isCancelled)
            assertIdle()
        }

    @Test
    fun close_andCancelAtOnce_waiterEndsAndHoldsNothing() =
        eachKind(listOf(true, false)) { isClosedFirst ->
            val closed = kind.closed ?: return@eachKind
            val waiter = waiter()
            if (isClosedFirst) place.close(null)
            waiter.cancel()
            if (!isClosedFirst) place.close(null)
            run()
            assertTrue(waiter.isCancelled || closed.isInstance(waiter.failure))
            assertIdle()
        }
}
