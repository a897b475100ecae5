package baton.waiting

import baton.hostile.RefusingExecutor
import baton.runBlockingOfAnyKotlinx
import baton.waiting.threads.LoopKeeper
import java.util.concurrent.Executors
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.RejectedExecutionException
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.job
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout

/** The answer of kotlinx's executor dispatcher to an executor that rejects; the dispatcher of our loops undoes it. */
@Timeout(120)
class LoopKotlinxProbe {
    private val reported = LinkedBlockingQueue<Throwable>()
    private val gone = CompletableDeferred<Exception>()

    private fun keeper(dispatcher: CoroutineDispatcher) =
        LoopKeeper(dispatcher, "loop", { reported += it }, onGone = { gone.complete(it) })

    private suspend fun assertIsActive() = assertTrue(currentCoroutineContext().job.isActive)

    @Test
    fun coroutine_whoseExecutorRejects_isNotCancelledAndRunsThereLater() = runBlockingOfAnyKotlinx {
        val executor = RefusingExecutor()
        withContext(keeper(executor.asCoroutineDispatcher()).dispatcher) {
            var refusals = 0
            for (times in listOf(1, 2, 3)) {
                executor.refuse(times)
                yield()
                refusals += times
                assertEquals(refusals, executor.refused.get())
                executor.refuse(times)
                refusals += times
                // One that ends before it suspends needs no thread.
                while (executor.refused.get() < refusals) delay(1.milliseconds)
                assertIsActive()
                assertTrue(Thread.currentThread().name.startsWith("refusing"))
            }
        }
        assertEquals(6, reported.size)
        assertTrue(reported.all { it is RejectedExecutionException && it.cause!!.message == "refused" })
        executor.shutdown()
    }

    @Test
    fun coroutine_whoseExecutorIsShutDown_goesOnElsewhereAndThatIsHeardOnce() = runBlockingOfAnyKotlinx {
        for (executor in listOf(RefusingExecutor(), Executors.newScheduledThreadPool(1))) {
            val dispatcher = executor.asCoroutineDispatcher()
            withContext(keeper(dispatcher).dispatcher) {
                executor.shutdown()
                repeat(2) {
                    yield()
                    delay(1.milliseconds)
                    withTimeout(100.seconds) { delay(1.milliseconds) }
                    assertIsActive()
                }
            }
            val heard = reported.single()
            assertTrue(heard is RejectedExecutionException && "was shut down" in heard.message!!) { "$heard" }
            assertTrue(gone.await() is CancellationException)
            reported.clear()
        }
    }
}
