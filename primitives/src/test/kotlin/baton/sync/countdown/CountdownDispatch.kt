package baton.sync.countdown

import baton.sync.assertState
import baton.sync.semaphore.contract.DyingDispatcher
import baton.waiting.Callers
import java.util.concurrent.Executors
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Coroutines in uncommon worlds: no job, no dispatcher, a dispatcher that runs at once, one that does not run at all.
 */
interface CountdownDispatch : CountdownFixture {
    @Test
    fun await_noJobAndNoDispatcher_areResumedByTheLastDown() {
        val countdown = countdown(2)
        val served = mutableListOf<Int>()
        for (i in 0..99) {
            suspend {
                countdown.await()
                served += i
            }.startCoroutine(Continuation(EmptyCoroutineContext) { it.getOrThrow() })
        }
        countdown.down()
        assertEquals(emptyList<Int>(), served)
        countdown.down()
        assertEquals((0..99).toList(), served)
    }

    @Test
    fun await_unconfined_isResumedByTheLastDown() =
        runTest {
            val countdown = countdown(1)
            val waiter = Callers(this).callAtOnce(context = Dispatchers.Unconfined) { countdown.await() }
            assertTrue(waiter.isWaiting)
            countdown.down()
            assertTrue(waiter.isServed)
        }

    @Test
    fun down_dispatcherThrows_othersAreLetIn() =
        runTest {
            val dead = DyingDispatcher()
            val callers = Callers(this)
            val countdown = countdown(1)
            callers.call("before") { countdown.await() }
            callers.callAtOnce("dead", dead) { countdown.await() }
            callers.call("behind") { countdown.await() }
            dead.isDead = true
            countdown.down()
            runCurrent()
            assertEquals(listOf("before", "behind"), callers.served)
            assertState(countdown, count = 0)
        }

    @Test
    fun down_executorWasShutDown_waiterIsCancelledAndOthersAreLetIn() =
        runTest {
            val executor = Executors.newSingleThreadExecutor()
            val countdown = countdown(1)
            val dispatcher = executor.asCoroutineDispatcher()
            val dead = Callers(this).callAtOnce("dead", dispatcher) { countdown.await() }
            val next = Callers(this).call("next") { countdown.await() }
            executor.shutdown()
            countdown.down()
            dead.job.join()
            runCurrent()
            assertTrue(dead.isCancelled)
            assertTrue(next.isServed)
        }
}
