package baton.waiting.contract

import baton.reportingTo
import java.util.concurrent.Executors
import java.util.concurrent.RejectedExecutionException
import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Coroutines in uncommon worlds: no job, no dispatcher, one that runs at once, one that does not run at all. */
interface WaiterDispatch : WaiterFixture {
    private fun start(end: (Result<Unit>) -> Unit = { it.getOrThrow() }, block: suspend () -> Unit) =
        block.startCoroutine(Continuation(EmptyCoroutineContext, end))

    @Test
    fun waiter_noJobAndNoDispatcher_isResumedByTheGranter() = eachKind {
        var isServed = false
        start { place.waitHere().also { isServed = true } }
        assertFalse(isServed)
        assertWaiting(1)
        place.grant()
        assertTrue(isServed)
        assertIdle(holders = 1)
    }

    @Test
    fun close_noJobAndNoDispatcher_isThrownIntoTheWaiter() = eachKind {
        val closed = kind.closed ?: return@eachKind
        var result: Result<Unit>? = null
        start({ result = it }) { place.waitHere() }
        place.close(null)
        assertTrue(closed.isInstance(result?.exceptionOrNull()))
    }

    @Test
    fun grant_noDispatcherAndEachWaiterGrantsTheNext_runsTheWholeQueue() = eachKind {
        val served = mutableListOf<Int>()
        for (i in 0..99) {
            start {
                place.waitHere()
                served += i
                if (!kind.grantsAll) place.grant()
            }
        }
        place.grant()
        assertEquals((0..99).toList(), if (kind.keepsGrant) served else served.sorted())
        assertIdle(holders = if (kind.grantsAll) 100 else 0)
    }

    /** JDK-6503247: a callback that threw inside the acquire path left the queue unusable. */
    @Test
    fun grant_resumedCodeThrows_queueGoesOnAndTheGranterHearsNothing() = eachKind {
        val uncaught = mutableListOf<Throwable>()
        reportingTo(uncaught) {
            var isServed = false
            start({ error("in the completion") }) {
                place.waitHere()
                if (!kind.grantsAll) place.grant()
            }
            start { place.waitHere().also { isServed = true } }
            place.grant()
            assertTrue(isServed)
            assertEquals(listOf("in the completion"), uncaught.map { it.message })
            assertIdle(holders = if (kind.grantsAll) 2 else 1)
        }
    }

    @Test
    fun waiter_unconfined_isResumedByTheGranterOrTheCanceller() = eachKind {
        val cancelled = callers.callAtOnce("cancelled", Dispatchers.Unconfined) { place.waitHere() }
        val waiter = callers.callAtOnce("waiter", Dispatchers.Unconfined) { place.waitHere() }
        cancelled.cancel()
        assertCancelled(cancelled)
        assertTrue(waiter.isWaiting)
        place.grant()
        assertTrue(waiter.isServed)
        assertIdle()
    }

    @Test
    fun grant_dispatcherThrows_nextIsServedWheneverItComes() =
        eachKind(listOf(true, false)) { isThereBefore ->
            if (!isThereBefore && !kind.keepsGrant) return@eachKind
            val dispatcher = DyingDispatcher()
            val dead = callers.callAtOnce("dead", dispatcher) { place.waitHere() }
            if (isThereBefore) waiter("next")
            dispatcher.isDead = true
            place.grant()
            if (!isThereBefore) waiter("next")
            if (!kind.passesOn) serveAll()
            while (callers.served.isEmpty()) Thread.onSpinWait().also { run() }
            assertServed("next")
            assertFalse(dead.isServed)
            if (!kind.grantsAll) assertIdle()
        }

    @Test
    fun grant_executorWasShutDown_waiterIsCancelledAndTheNextIsServed() = eachKind {
        val executor = Executors.newSingleThreadExecutor()
        val dead = callers.callAtOnce("dead", executor.asCoroutineDispatcher()) { place.waitHere() }
        waiter("next")
        executor.shutdown()
        place.grant()
        dead.job.join()
        run()
        assertCancelled(dead)
        if (!kind.passesOn) serveAll()
        assertServed("next")
        assertIdle()
    }
}

/** For suspend functions: a `select` of kotlinx throws the dispatcher's exception at the canceller. */
interface SuspendingWaiterDispatch : WaiterDispatch {
    @Test
    fun cancel_dispatcherThrows_placeInTheQueueIsGivenUp() = eachKind {
        val dispatcher = DyingDispatcher()
        val dead = callers.callAtOnce("dead", dispatcher) { place.waitHere() }
        waiter("next")
        dispatcher.isDead = true
        dead.cancel()
        assertWaiting(1)
        serveAll()
        while (callers.served.isEmpty()) Thread.onSpinWait().also { run() }
        assertServed("next")
        assertIdle()
    }
}

/** Runs its coroutines at once, until it dies. */
internal class DyingDispatcher : CoroutineDispatcher() {
    @Volatile var isDead = false

    override fun dispatch(context: CoroutineContext, block: Runnable) {
        if (isDead) throw RejectedExecutionException("dead") else block.run()
    }
}
