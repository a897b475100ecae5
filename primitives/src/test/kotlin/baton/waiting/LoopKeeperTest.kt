package baton.waiting

import baton.waiting.threads.LoopKeeper
import java.io.IOException
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.Executors
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout

/** The rule of all loops, alone. [LoopKotlinxProbe] has what executors do. */
@Timeout(120)
class LoopKeeperTest {
    private val reported = ConcurrentLinkedQueue<Throwable>()

    private fun keeper(
        context: CoroutineContext,
        longestRefusal: Duration = 60.seconds,
        onGone: (Exception) -> Unit = {},
        onReport: () -> Unit = {},
    ): LoopKeeper {
        val report = { e: Throwable ->
            reported += e
            onReport()
        }
        return LoopKeeper(context, "loop", report, longestRefusal, onGone)
    }

    @Test
    fun step_thatThrows_isReportedOnceAndRepeatedWithPausesUntilItWorks() = runTest {
        val failure = NoClassDefFoundError("x")
        val times = ArrayList<Long>()
        val keeper = keeper(coroutineContext)
        val loop =
            launch(keeper.dispatcher) {
                keeper.repeat {
                    times += currentTime
                    if (times.size !in 11..12) throw failure
                    delay(1.seconds)
                }
            }
        delay(10.seconds)
        loop.cancelAndJoin()
        assertEquals(listOf(0L, 10, 30, 70, 150, 310, 630, 1270, 2270, 3270, 4270, 5270, 6270, 6280), times.take(14))
        assertEquals(listOf<Throwable>(failure, failure), reported.toList())
    }

    @Test
    fun step_thatCancelsItsJobOrThrowsACancellation_isReportedWithAnotherException() = runTest {
        var steps = 0
        val keeper = keeper(coroutineContext)
        val loop =
            launch(keeper.dispatcher) {
                keeper.repeat(1.seconds) {
                    when (steps++) {
                        0 -> withTimeout(1.milliseconds) { delay(1.seconds) }
                        1 -> delay(1.seconds)
                        2 -> currentCoroutineContext().cancel()
                        else -> delay(1.seconds)
                    }
                }
            }
        delay(10.seconds)
        assertTrue(loop.isActive && steps > 4)
        loop.cancelAndJoin()
        assertEquals(2, reported.size)
        assertTrue(reported.all { it !is CancellationException && it.cause is CancellationException })
    }

    @Test
    fun failure_thatIsFinal_isThrown() = runTest {
        val failure = IOException("final")
        val thrown = runCatching { keeper(coroutineContext).repeat(isFinal = { it is IOException }) { throw failure } }
        assertSame(failure, thrown.exceptionOrNull())
        assertEquals(0, reported.size)
    }

    @Test
    fun delay_inVirtualTime_endsInTheOrderOfTheDelays() = runTest {
        val order = ArrayList<String>()
        coroutineScope {
            launch(keeper(coroutineContext).dispatcher) { delay(1.seconds).also { order += "loop" } }
            runCurrent()
            delay(1.seconds)
            order += "other"
        }
        assertEquals(listOf("loop", "other"), order)
    }

    @Test
    fun dispatchers_thatNeverRefuse_areLeftAlone() {
        for (context in listOf(EmptyCoroutineContext, Dispatchers.Default, Dispatchers.IO, Dispatchers.Unconfined)) {
            assertSame(EmptyCoroutineContext, keeper(context).dispatcher)
        }
    }

    /** Throws for the next [refusals] dispatches; if it [queues], after it has queued the block. */
    private class Throwing(private val queues: Boolean) : CoroutineDispatcher() {
        val refusals = AtomicInteger()
        val executor = Executors.newSingleThreadExecutor()

        override fun dispatch(context: CoroutineContext, block: Runnable) {
            val refuses = refusals.getAndUpdate { maxOf(it - 1, 0) } > 0
            if (!refuses || queues) executor.execute(block)
            if (refuses) throw OutOfMemoryError("unable to create native thread")
        }
    }

    @Test
    fun dispatcher_thatThrows_isAskedAgain_andRunsEachBlockOnce() {
        for (queues in listOf(false, true)) runBlocking {
            val throwing = Throwing(queues)
            var steps = 0
            withContext(keeper(throwing).dispatcher) {
                repeat(5) {
                    throwing.refusals.set(2)
                    yield()
                    steps++
                }
            }
            assertEquals(5, steps)
            throwing.executor.shutdown()
        }
        assertTrue(reported.any { it is RejectedExecutionException && it.cause is OutOfMemoryError }) { "$reported" }
    }

    @Test
    fun dispatcher_thatThrowsForTooLong_isGone() = runBlocking {
        val throwing = Throwing(queues = false)
        val gone = CompletableDeferred<Exception>()
        withContext(keeper(throwing, 50.milliseconds, { gone.complete(it) }).dispatcher) {
            throwing.refusals.set(Int.MAX_VALUE)
            yield()
            throwing.refusals.set(0)
            yield()
        }
        throwing.executor.shutdown()
        assertTrue(gone.await() is RejectedExecutionException)
        assertTrue("has refused to run it for 50ms" in gone.await().message!!)
        assertEquals(2, reported.size)
    }

    @Test
    fun coroutine_thatIsCancelledWhileItIsRefused_endsElsewhere() = runBlocking {
        val throwing = Throwing(queues = false)
        val refused = CompletableDeferred<Unit>()
        val keeper = keeper(throwing) { refused.complete(Unit) }
        var end = ""
        val loop =
            launch(keeper.dispatcher) {
                throwing.refusals.set(Int.MAX_VALUE)
                try {
                    keeper.repeat { yield() }
                } finally {
                    end = Thread.currentThread().name
                }
            }
        refused.await()
        withTimeout(100.seconds) { loop.cancelAndJoin() }
        throwing.executor.shutdown()
        assertEquals(1, reported.size)
        assertFalse(end.startsWith("pool"), end)
    }

    /** The job of the `withTimeout` is inactive when the refused block resumes the step. */
    @Test
    fun step_refusedWhereItsTimeoutIsOver_goesOnOnItsDispatcherAndIsReported() = runBlocking {
        val throwing = Throwing(queues = false)
        val thread = CompletableDeferred<String>()
        val keeper = keeper(throwing)
        val loop =
            launch(keeper.dispatcher) {
                keeper.repeat {
                    // A timeout that is over before the coroutine suspends dispatches nothing that could be refused.
                    do {
                        withTimeoutOrNull(1.milliseconds) {
                            throwing.refusals.set(1)
                            awaitCancellation()
                        }
                    } while (throwing.refusals.getAndSet(0) > 0)
                    thread.complete(Thread.currentThread().name)
                    awaitCancellation()
                }
            }
        assertTrue(thread.await().startsWith("pool"), thread.await())
        assertEquals(1, reported.size)
        loop.cancelAndJoin()
        throwing.executor.shutdown()
    }

    /** An hour may lie between the two: no block of the first is left that the dispatcher could have accepted. */
    @Test
    fun refusal_afterARefusedCoroutineWasCancelled_isNotCountedFromThen() = runBlocking {
        val throwing = Throwing(queues = false)
        var refused: Job? = null
        // Each refused block is offered again after 10 ms at the earliest.
        val keeper = keeper(throwing, 1.milliseconds, onGone = { reported += it }) { refused!!.cancel() }
        refused = launch(keeper.dispatcher, CoroutineStart.LAZY) { throw AssertionError("it runs") }
        throwing.refusals.set(2)
        refused.join()
        assertEquals(1, reported.size)
        throwing.refusals.set(1)
        withContext(keeper.dispatcher) {}
        throwing.executor.shutdown()
        assertEquals(1, reported.size) { "$reported" }
    }
}
