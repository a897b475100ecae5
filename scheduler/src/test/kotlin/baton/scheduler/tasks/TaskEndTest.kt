package baton.scheduler.tasks

import baton.Priority
import baton.Priority.NORMAL
import baton.scheduler.TaskRejectedException
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.TaskSchedulerMetrics
import baton.scheduler.TaskState
import java.io.IOException
import kotlin.coroutines.CoroutineContext
import kotlin.random.Random
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineExceptionHandler
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.async
import kotlinx.coroutines.cancel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.isActive
import kotlinx.coroutines.job
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Cancellation takes effect at once and leaves nothing in the scheduler; failures reach the awaiters alone. */
class TaskEndTest {
    private val ran = ArrayList<String>()

    @Test
    fun cancel_queuedTask_leavesTheQueueAtOnce_blockIsNotCalled() = runTest {
        val scheduler = TaskScheduler(this, 1)
        scheduler.schedule { delay(1.seconds) }
        val tasks = List(3) { i -> scheduler.schedule { ran += "$i" } }
        tasks[1].cancel()
        assertTrue(tasks[1].isCompleted && tasks[1].isCancelled)
        assertEquals(2, scheduler.metrics.queued)
        assertEquals(1, scheduler.metrics[NORMAL].withdrawn)
        tasks[1].cancel()
        tasks[0].join()
        tasks[2].join()
        assertEquals(listOf("0", "2"), ran)
        assertAtRest(scheduler)
    }

    @Test
    fun cancel_runningTask_itsSlotIsFreeOnceItHasEnded() = runTest {
        val scheduler = TaskScheduler(this, 1)
        val task =
            scheduler.schedule {
                try {
                    delay(1.hours)
                } finally {
                    withContext(NonCancellable) { delay(5.seconds) }
                    ran += "cleaned up"
                }
            }
        scheduler.schedule { ran += "next" }
        runCurrent()
        task.cancel(CancellationException("not wanted"))
        runCurrent()
        assertTrue(ran.isEmpty())
        assertEquals("not wanted", runCatching { task.await() }.exceptionOrNull()?.message)
        runCurrent()
        assertEquals(listOf("cleaned up", "next"), ran)
        assertEquals(5_000, currentTime)
        assertEquals(1, scheduler.metrics[NORMAL].cancelled)
        assertAtRest(scheduler)
    }

    @Test
    fun cancel_betweenStartAndFirstStep_blockIsNotCalled() = runTest {
        val scheduler = TaskScheduler(this, 1)
        val task = scheduler.schedule { ran += "never" }
        assertEquals(TaskState.RUNNING, task.state)
        task.cancel()
        runCurrent()
        assertTrue(ran.isEmpty() && task.isCancelled)
        assertAtRest(scheduler)
    }

    @Test
    fun cancel_hundredThousandQueued_anyOrder_leavesNothing() = runTest {
        val scope = CoroutineScope(Dispatchers.Unconfined + Job())
        val scheduler = TaskScheduler(scope, 1)
        scheduler.pause()
        val tasks = List(CROWD) { scheduler.schedule(Priority.entries[it % 5]) { ran += "never" } }
        assertEquals(CROWD, scheduler.metrics.queued)
        // One exception for all tasks: creating one takes longer than cancelling a task.
        val cause = CancellationException("not wanted")
        for ((i, task) in tasks.shuffled(Random(1)).withIndex()) {
            task.cancel(cause)
            if (i % 1000 == 0) assertEquals(CROWD - i - 1, scheduler.metrics.queued)
        }
        assertAtRest(scheduler)
        assertEquals(CROWD / 5L, scheduler.metrics[NORMAL].withdrawn)
        scheduler.resume()
        assertTrue(ran.isEmpty())
        assertEquals(0, scope.coroutineContext.job.children.count())
        assertEquals("still runs", scheduler.run { "still runs" })
    }

    @Test
    fun run_throwsOrReturnsAsItsBlock() = runTest {
        val scheduler = TaskScheduler(this, 1)
        val failure = runCatching { scheduler.run { throw java.io.IOException("broken") } }.exceptionOrNull()
        assertTrue(failure is java.io.IOException)
        assertNull(scheduler.run { null })
        val task = async { scheduler.run { delay(1.hours) } }
        runCurrent()
        assertEquals(1, scheduler.metrics.running)
        task.cancel()
    }

    @Test
    fun key_findsAndCancelsTasksThatHaveNotEnded() = runTest {
        val scheduler = TaskScheduler(this, 1)
        val holder = scheduler.schedule(key = "a") { delay(1.seconds) }
        val queued = List(3) { scheduler.schedule(key = "b") { ran += "never" } }
        scheduler.schedule { ran += "no key" }
        assertEquals(listOf(holder), scheduler.tasks("a"))
        assertEquals(queued, scheduler.tasks("b"))
        queued[0].cancel()
        assertEquals(2, scheduler.cancel("b"))
        assertTrue(queued.all { it.isCancelled })
        assertEquals(0, scheduler.cancel("b"))
        assertEquals(emptyList<Any>(), scheduler.tasks("b") + scheduler.tasks("c"))
        scheduler.drain()
        assertEquals(listOf("no key"), ran)
        assertEquals(emptyList<Any>(), scheduler.tasks("a"))
        assertEquals("a", holder.taskKey)
    }

    @Test
    fun key_hashChangesWhileItsTasksWait_isNotKept() = runTest {
        val key = ArrayList<String>()
        val scheduler = TaskScheduler(this, 1)
        val tasks = List(2) { scheduler.schedule(key = key) { delay(1) } }
        key += "changed"
        tasks.joinAll()
        key.clear()
        assertEquals(emptyList<Any>(), scheduler.keys.of(key))
    }

    @Test
    fun key_toStringThrows_hasNoEffect() = runTest {
        class Silent {
            override fun toString(): String = error("silent")
        }
        val scheduler = TaskScheduler(this, 1, config = TaskSchedulerConfig(capacity = 0))
        scheduler.schedule { delay(1) }
        val task = scheduler.schedule(key = Silent()) {}
        assertTrue(task.getCompletionExceptionOrNull() is TaskRejectedException)
        assertTrue("Silent" in task.toString())
    }

    private fun TestScope.scheduler(maxConcurrency: Int = 1) = TaskScheduler(this, maxConcurrency, "test")

    @Test
    fun failure_ofATask_reachesItsOwnAwaitersOnly() = runTest {
        val scheduler = scheduler(2)
        val failing =
            scheduler.schedule<Int> {
                delay(1)
                throw IOException("broken")
            }
        val child = scheduler.schedule { launch { throw IOException("child broken") } }
        val other =
            scheduler.schedule {
                delay(5)
                "fine"
            }
        assertEquals("broken", runCatching { failing.await() }.exceptionOrNull()?.message)
        assertEquals("child broken", runCatching { child.await() }.exceptionOrNull()?.message)
        assertEquals("fine", other.await())
        assertTrue(isActive)
        assertEquals(2, scheduler.metrics[NORMAL].failed)
    }

    @Test
    fun block_throwsAtOnce_slotIsNotLost() = runTest {
        for (context in listOf<CoroutineContext>(Dispatchers.Unconfined, coroutineContext)) {
            val scheduler = TaskScheduler(CoroutineScope(context + Job()), 1)
            repeat(100) { scheduler.schedule { error("at once") } }
            val last = scheduler.schedule { "still runs" }
            assertEquals("still runs", last.await())
            assertEquals(100, scheduler.metrics[NORMAL].failed)
            assertEquals(0, scheduler.metrics.running)
        }
    }

    @Test
    fun task_throwsCancellationException_isCancelled() = runTest {
        val scheduler = scheduler()
        val thrown = scheduler.schedule { throw CancellationException("thrown") }
        val own = scheduler.schedule { currentCoroutineContext().cancel(CancellationException("own")) }
        runCurrent()
        for (task in listOf(thrown, own)) assertTrue(task.isCancelled && task.state == TaskState.DONE)
        assertEquals(2, scheduler.metrics[NORMAL].cancelled)
        assertEquals("goes on", scheduler.run { "goes on" })
    }

    @Test
    fun failure_notAwaited_reachesNoHandlerAndNoScope() = runTest {
        val reported = ArrayList<Throwable>()
        val handler = CoroutineExceptionHandler { _, e -> reported += e }
        val scope = CoroutineScope(coroutineContext + Job() + handler)
        val scheduler = TaskScheduler(scope, 1)
        scheduler.schedule { throw IOException() }
        runCurrent()
        assertTrue(scope.isActive && reported.isEmpty())
    }

    private companion object {
        const val CROWD = 100_000
    }
}

internal fun assertAtRest(scheduler: TaskScheduler) {
    val metrics = scheduler.metrics
    assertEquals(0, metrics.queued + metrics.running + metrics.waiting, "$metrics")
    assertSumsFit(metrics)
}

/** Checks the equations that [TaskSchedulerMetrics] states. */
internal fun assertSumsFit(metrics: TaskSchedulerMetrics) {
    val all = Priority.entries.map { metrics[it] }
    val refused = all.sumOf { it.withdrawn + it.rejected + it.shed + it.expired + it.closed }
    val started = all.sumOf { it.started }
    assertEquals(all.sumOf { it.scheduled }, metrics.queued + metrics.waiting + started + refused, "$metrics")
    assertEquals(started, metrics.running + all.sumOf { it.done + it.failed + it.cancelled }, "$metrics")
}
