package baton.scheduler.dispatch

import baton.Priority
import baton.hostile.LoopFault
import baton.hostile.RefusingExecutor
import baton.reportingTo
import baton.scheduler.prioritized
import java.util.concurrent.CountDownLatch
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** The workers of a dispatcher over an executor that rejects, and over blocks that throw. */
@Tag("jdk")
@Timeout(120)
class PriorityRefusalTest {
    private val executor = RefusingExecutor()
    private val dispatcher = executor.asCoroutineDispatcher().prioritized(parallelism = 2)

    /** Returns the thread that has run a block. */
    private fun runBlock(on: CoroutineDispatcher = dispatcher, failure: Throwable? = null): String {
        val ran = CountDownLatch(1)
        var thread = ""
        on.dispatch(EmptyCoroutineContext) {
            thread = Thread.currentThread().name
            ran.countDown()
            if (failure != null) throw failure
        }
        assertTrue(ran.await(120, TimeUnit.SECONDS))
        return thread
    }

    @AfterEach
    fun shutDown() {
        executor.shutdownNow()
    }

    @ParameterizedTest
    @EnumSource
    fun fault_isHeardAndTheWorkersGoOn(fault: LoopFault) {
        val reported = ArrayList<Throwable>()
        reportingTo(reported) {
            if (fault.isRefusal) {
                fault.refuse(executor)
                // Each on Dispatchers.IO, while the executor rejects.
                do {
                    val refused = executor.refused.get()
                    val thread = runBlock()
                } while (executor.refused.get() > refused || thread != "refusing")
                val heard = reported.single()
                assertTrue(heard is RejectedExecutionException && "PriorityDispatcher" in heard.message!!) { "$heard" }
                assertEquals("refused", heard.cause!!.message)
            } else {
                val failure = fault.failure()
                assertEquals("refusing", runBlock(failure = failure))
                assertSame(failure, executor.uncaught.poll(120, TimeUnit.SECONDS))
                assertEquals("refusing", runBlock())
            }
        }
    }

    @Test
    fun executor_thatIsShutDown_isHeardAndAllBlocksRun() {
        val reported = ArrayList<Throwable>()
        executor.shutdown()
        reportingTo(reported) { repeat(100) { runBlock() } }
        assertTrue(reported.single() is RejectedExecutionException)
    }

    @Test
    fun dispatcher_thatThrowsAnError_isHeardAndTheBlockRuns() {
        val error = OutOfMemoryError("unable to create native thread")
        val throwing =
            object : CoroutineDispatcher() {
                override fun dispatch(context: CoroutineContext, block: Runnable) = throw error
            }
        val reported = ArrayList<Throwable>()
        reportingTo(reported) { runBlock(throwing.prioritized(1)) }
        assertSame(error, reported.single().cause)
    }

    /** The queue passes itself as the context of its workers; a dispatcher below may read that, but no block does. */
    @Test
    fun blocks_overADispatcherThatReadsItsContext_haveTheirCallersJob() = runBlocking {
        val seen = LinkedBlockingQueue<CoroutineContext>()
        val reading =
            object : CoroutineDispatcher() {
                override fun dispatch(context: CoroutineContext, block: Runnable) {
                    seen += context
                    Dispatchers.Default.dispatch(context, block)
                }
            }
        val reported = ArrayList<Throwable>()
        reportingTo(reported) {
            val prioritized = reading.prioritized(2)
            for (on in listOf(prioritized, prioritized.level(Priority.HIGH), prioritized.limitedParallelism(1))) {
                val job =
                    launch(on) {
                        yield()
                        assertSame(coroutineContext.job, currentCoroutineContext()[Job])
                        assertSame(on, currentCoroutineContext()[ContinuationInterceptor])
                    }
                job.join()
                assertFalse(job.isCancelled)
            }
        }
        assertEquals(emptyList<Throwable>(), reported)
        for (context in seen) {
            assertTrue(context[Job]!!.isActive)
            for (other in listOf(context.minusKey(Job), (context + CoroutineName("x")).minusKey(Job))) {
                assertEquals(null, other[Job])
                assertEquals(null, (EmptyCoroutineContext + other)[Job])
            }
        }
    }
}
