package baton.scheduler

import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.Job
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * A dispatcher that takes what it is given and then throws, as one over a `ThreadPoolExecutor` does when the system has
 * no thread left: what it has queued runs later all the same.
 */
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

    private val under = Queueing()
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
    fun `worker that was queued although its dispatch threw, runs once`() {
        val prioritized = under.prioritized(1)
        under.isThrowing = true
        val begun = CountDownLatch(1)
        val go = CountDownLatch(1)
        val ended = CountDownLatch(1)
        prioritized.add {
            begun.countDown()
            go.await()
        }
        assertTrue(begun.await(10, TimeUnit.SECONDS))
        prioritized.add { ended.countDown() }
        under.step()
        assertEquals(0, ran.get())
        go.countDown()
        assertTrue(ended.await(10, TimeUnit.SECONDS))
        assertEquals(1, most.get())
    }

    @Test
    fun `worker that was queued although it could not go behind, runs once`() {
        val prioritized = under.prioritized(1, quantum = 1)
        prioritized.add { under.isThrowing = true }
        prioritized.add { thread { under.step() }.join() }
        prioritized.add { }
        under.step()
        while (under.queue.isNotEmpty()) under.step()
        assertEquals(3, ran.get())
        assertEquals(1, most.get())
        assertEquals(0, prioritized.metrics.workers)
    }

    @Test
    fun `worker that comes late after its substitute has left, does nothing or serves the next start`() {
        val prioritized = under.prioritized(1)
        under.isThrowing = true
        repeat(3) { round ->
            val ended = CountDownLatch(1)
            prioritized.add { ended.countDown() }
            if (round == 1) under.step()
            assertTrue(ended.await(10, TimeUnit.SECONDS))
        }
        while (under.queue.isNotEmpty()) under.step()
        assertEquals(1, most.get())
        // The substitutes run elsewhere; none is left that has work.
        prioritized.add { }
        while (ran.get() < 4) Thread.onSpinWait()
        assertEquals(4, ran.get())
    }

    @Test
    fun `task that has begun when its dispatch throws, goes on`() = runBlocking {
        val begun = CountDownLatch(1)
        val go = CountDownLatch(1)
        val threads = object : CoroutineDispatcher() {
            override fun dispatch(context: CoroutineContext, block: Runnable) {
                thread { block.run() }
                begun.await()
                throw OutOfMemoryError("no thread")
            }
        }
        val scheduler = TaskScheduler(CoroutineScope(threads + Job()), 1)
        val task = scheduler.schedule {
            begun.countDown()
            go.await()
            "value"
        }
        assertTrue(!task.isCompleted)
        go.countDown()
        assertEquals("value", withTimeout(10.seconds) { task.await() })
    }

    @Test
    fun `task whose dispatch was dropped, ends and frees its place when it is cancelled`() {
        val scheduler = TaskScheduler(CoroutineScope(under + Job()), 1)
        val dropped = scheduler.schedule { ran.addAndGet(100) }
        val next = scheduler.schedule { ran.incrementAndGet() }
        val late = under.queue.poll()
        dropped.cancel()
        assertTrue(dropped.isCompleted && dropped.isCancelled)
        under.step()
        assertEquals(1, next.getCompleted())
        late.run()
        assertEquals(1, ran.get())
        assertEquals(0, scheduler.metrics.running)
    }

    @Test
    fun `task that has failed because its dispatch threw, never begins`() {
        val scheduler = TaskScheduler(CoroutineScope(under + Job()), 1)
        under.isThrowing = true
        val task = scheduler.schedule { ran.incrementAndGet() }
        assertTrue(task.getCompletionExceptionOrNull() is OutOfMemoryError)
        repeat(2) { under.step() }
        assertEquals(0, ran.get())
        assertEquals(0, scheduler.metrics.running)
    }
}
