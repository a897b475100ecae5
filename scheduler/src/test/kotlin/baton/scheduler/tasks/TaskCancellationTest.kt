package baton.scheduler.tasks

import baton.Priority
import baton.Priority.NORMAL
import baton.scheduler.TaskRejectedException
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.TaskSchedulerMetrics
import baton.scheduler.TaskState
import kotlin.random.Random
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.cancelChildren
import kotlinx.coroutines.delay
import kotlinx.coroutines.job
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Cancellation takes effect at once and leaves nothing in the scheduler. */
class TaskCancellationTest {
    private val ran = ArrayList<String>()

    private fun assertAtRest(scheduler: TaskScheduler) {
        val metrics = scheduler.metrics
        assertEquals(0, metrics.queued + metrics.running + metrics.waiting, "$metrics")
        assertSumsFit(metrics)
    }

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
        val task = scheduler.schedule {
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
    fun cancel_everySecondQueued_othersKeepTheirOrder() = runTest {
        val scheduler = TaskScheduler(this, 1)
        scheduler.pause()
        val started = ArrayList<Int>()
        val tasks = List(2_000) { i -> scheduler.schedule { started += i } }
        tasks.filterIndexed { i, _ -> i % 2 == 0 }.shuffled(Random(2)).forEach { it.cancel() }
        scheduler.resume()
        scheduler.drain()
        assertEquals(List(1_000) { 2 * it + 1 }, started)
    }

    @Test
    fun run_callerCancelled_queuedOrRunning_waitsForTheEnd() = runTest {
        val scheduler = TaskScheduler(this, 1)
        val running = launch {
            scheduler.run {
                try {
                    delay(1.hours)
                } finally {
                    withContext(NonCancellable) { delay(1.seconds) }
                    ran += "cleaned up"
                }
            }
        }
        val queued = launch { scheduler.run { ran += "never" } }
        runCurrent()
        queued.cancelAndJoin()
        assertEquals(0, scheduler.metrics.queued)
        running.cancelAndJoin()
        assertEquals(listOf("cleaned up"), ran)
        assertEquals(1_000, currentTime)
        assertAtRest(scheduler)
    }

    @Test
    fun run_timeout_leavesTheQueue() = runTest {
        val scheduler = TaskScheduler(this, 1)
        val holder = scheduler.schedule { delay(1.hours) }
        assertNull(withTimeoutOrNull(1.seconds) { scheduler.run { ran += "never" } })
        assertEquals(0, scheduler.metrics.queued)
        holder.cancel()
        runCurrent()
        assertAtRest(scheduler)
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
    fun await_callerCancelled_taskContinues() = runTest {
        val scheduler = TaskScheduler(this, 1)
        val task = scheduler.schedule {
            delay(2.seconds)
            "value"
        }
        assertNull(withTimeoutOrNull(1.seconds) { task.await() })
        assertFalse(task.isCancelled)
        assertEquals("value", task.await())
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

    private companion object {
        const val CROWD = 100_000
    }
}

/** Checks the equations that [TaskSchedulerMetrics] states. */
internal fun assertSumsFit(metrics: TaskSchedulerMetrics) {
    val all = Priority.entries.map { metrics[it] }
    val refused = all.sumOf { it.withdrawn + it.rejected + it.shed + it.expired + it.closed }
    val started = all.sumOf { it.started }
    assertEquals(all.sumOf { it.scheduled }, metrics.queued + metrics.waiting + started + refused, "$metrics")
    assertEquals(started, metrics.running + all.sumOf { it.done + it.failed + it.cancelled }, "$metrics")

    @Test
    fun cancelChildren_whileOneOfThemCleansUp_newTasksRun() = runTest {
        val scope = CoroutineScope(coroutineContext + Job())
        val scheduler = TaskScheduler(scope, 2)
        scheduler.schedule { withContext(NonCancellable) { delay(1.seconds) } }
        runCurrent()
        scope.coroutineContext.cancelChildren()
        assertEquals("runs", scheduler.run { "runs" })
    }
}
