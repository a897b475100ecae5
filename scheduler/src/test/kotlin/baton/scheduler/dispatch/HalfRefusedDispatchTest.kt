package baton.scheduler.dispatch

import baton.scheduler.PriorityDispatcher
import baton.scheduler.TaskScheduler
import baton.scheduler.prioritized
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.Job
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test

/**
 * A dispatcher that queues a block and then throws, as one over a `ThreadPoolExecutor` does when the system cannot
 * start another thread: the queued block still runs later.
 */
@Tag("jdk")
@OptIn(ExperimentalCoroutinesApi::class)
class HalfRefusedDispatchTest {
    private class Queueing : CoroutineDispatcher() {
        val queue = ConcurrentLinkedQueue<Runnable>()
        var isThrowing = false

        override fun dispatch(context: CoroutineContext, block: Runnable) {
            queue.add(block)
            if (isThrowing) throw OutOfMemoryError("no thread")
        }

        fun step() = queue.poll()?.run()
    }

    private val underlying = Queueing()
    private val running = AtomicInteger()
    private val most = AtomicInteger()
    private val ran = AtomicInteger()

    private fun PriorityDispatcher.add(block: () -> Unit) =
        dispatch(EmptyCoroutineContext) {
            most.accumulateAndGet(running.incrementAndGet(), Math::max)
            block()
            running.decrementAndGet()
            ran.incrementAndGet()
        }

    @Test
    fun worker_queuedAlthoughItsDispatchThrew_runsOnce() {
        val prioritized = underlying.prioritized(1)
        underlying.isThrowing = true
        val begun = CountDownLatch(1)
        val go = CountDownLatch(1)
        val ended = CountDownLatch(1)
        prioritized.add {
            begun.countDown()
            go.await()
        }
        assertTrue(begun.await(120, TimeUnit.SECONDS))
        prioritized.add { ended.countDown() }
        underlying.step()
        assertEquals(0, ran.get())
        go.countDown()
        assertTrue(ended.await(120, TimeUnit.SECONDS))
        assertEquals(1, most.get())
    }

    @Test
    fun worker_queuedAlthoughItsRequeueThrew_runsOnce() {
        val prioritized = underlying.prioritized(1, quantum = 1)
        prioritized.add { underlying.isThrowing = true }
        prioritized.add { thread { underlying.step() }.join() }
        prioritized.add {}
        underlying.step()
        while (underlying.queue.isNotEmpty()) underlying.step()
        assertEquals(3, ran.get())
        assertEquals(1, most.get())
        assertEquals(0, prioritized.metrics.workers)
    }

    @Test
    fun worker_runsAfterItsSubstituteHasLeft_doesNothingOrServesTheNextStart() {
        val prioritized = underlying.prioritized(1)
        underlying.isThrowing = true
        repeat(3) { round ->
            val ended = CountDownLatch(1)
            prioritized.add { ended.countDown() }
            if (round == 1) underlying.step()
            assertTrue(ended.await(120, TimeUnit.SECONDS))
        }
        while (underlying.queue.isNotEmpty()) underlying.step()
        assertEquals(1, most.get())
        // The substitutes have run on Dispatchers.Default, so the queued starts find no work.
        prioritized.add {}
        while (ran.get() < 4) Thread.onSpinWait()
        assertEquals(4, ran.get())
    }

    @Test
    fun task_begunWhenItsDispatchThrows_continues() = runBlocking {
        val begun = CountDownLatch(1)
        val go = CountDownLatch(1)
        val threads =
            object : CoroutineDispatcher() {
                override fun dispatch(context: CoroutineContext, block: Runnable) {
                    thread { block.run() }
                    begun.await()
                    throw OutOfMemoryError("no thread")
                }
            }
        val scheduler = TaskScheduler(CoroutineScope(threads + Job()), 1)
        val task =
            scheduler.schedule {
                begun.countDown()
                go.await()
                "value"
            }
        assertTrue(!task.isCompleted)
        go.countDown()
        assertEquals("value", withTimeout(2.minutes) { task.await() })
    }

    @Test
    fun task_whoseDispatchWasDropped_cancelled_endsAndFreesItsSlot() {
        val scheduler = TaskScheduler(CoroutineScope(underlying + Job()), 1)
        val dropped = scheduler.schedule { ran.addAndGet(100) }
        val next = scheduler.schedule { ran.incrementAndGet() }
        val late = underlying.queue.poll()
        dropped.cancel()
        assertTrue(dropped.isCompleted && dropped.isCancelled)
        underlying.step()
        assertEquals(1, next.getCompleted())
        late.run()
        assertEquals(1, ran.get())
        assertEquals(0, scheduler.metrics.running)
    }

    @Test
    fun task_failedBecauseItsDispatchThrew_neverBegins() {
        val scheduler = TaskScheduler(CoroutineScope(underlying + Job()), 1)
        underlying.isThrowing = true
        val task = scheduler.schedule { ran.incrementAndGet() }
        assertTrue(task.getCompletionExceptionOrNull() is OutOfMemoryError)
        repeat(2) { underlying.step() }
        assertEquals(0, ran.get())
        assertEquals(0, scheduler.metrics.running)
    }
}
