package baton.scheduler

import baton.Priority
import baton.VersionKotlinxProbe
import baton.runBlockingOfAnyKotlinx
import baton.sync.Mutex
import baton.sync.StepDispatcher
import baton.sync.withLock
import java.io.IOException
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.cancelChildren
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** How the scheduler uses AbstractCoroutine, Deferred, Delay and Job.parent of kotlinx. */
class SchedulerKotlinxProbe {
    @Test
    fun task_withAValue_isADeferred() = runBlockingOfAnyKotlinx {
        val scheduler = TaskScheduler(CoroutineScope(Dispatchers.Default + Job()), 1)
        val task =
            scheduler.schedule {
                yield()
                42
            }
        val next = scheduler.schedule { 43 }
        assertEquals(listOf(42, 43), awaitAll(task, next))
        assertEquals(42, select { task.onAwait { it } })
        assertEquals(43, next.getCompleted())
        assertEquals(null, task.getCompletionExceptionOrNull())
        scheduler.drain()
        assertEquals(2, scheduler.metrics[Priority.NORMAL].done)
    }

    @Test
    fun task_failsOrIsCancelled_queuedOrRunning_reportsIt() = runBlockingOfAnyKotlinx {
        val scheduler = TaskScheduler(CoroutineScope(Dispatchers.Unconfined + Job()), 1)
        val failing = scheduler.schedule { throw IOException("disk") }
        assertThrows(IOException::class.java) { failing.getCompleted() }
        val running = scheduler.schedule { awaitCancellation() }
        val queued = scheduler.schedule { error("never") }
        queued.cancel(CancellationException("not needed"))
        assertTrue(queued.isCompleted)
        assertEquals("not needed", queued.getCompletionExceptionOrNull()?.message)
        scheduler.close()
        running.cancelAndJoin()
        val message = running.getCompletionExceptionOrNull()?.message
        assertEquals("ScheduledTask of TaskScheduler was cancelled", message)
        assertTrue(scheduler.schedule {}.getCompletionExceptionOrNull() is SchedulerClosedException)
        assertEquals(0, scheduler.metrics.running + scheduler.metrics.queued)
    }

    @Test
    fun task_asAParent_waitsForItsChild() = runBlockingOfAnyKotlinx {
        val gate = Job()
        val scheduler = TaskScheduler(CoroutineScope(Dispatchers.Unconfined + Job()), 1)
        val task = scheduler.schedule { launch { gate.join() } }
        assertFalse(task.isCompleted)
        assertEquals(1, scheduler.metrics.running)
        gate.complete()
        assertTrue(task.isCompleted)
    }

    @Test
    fun scope_cancelled_cancelsItsTasksAndWaitsForThem() = runBlockingOfAnyKotlinx {
        val scope = Job()
        val scheduler = TaskScheduler(CoroutineScope(Dispatchers.Unconfined + scope), 1)
        val gate = Job()
        val running = scheduler.schedule { withContext(NonCancellable) { gate.join() } }
        val queued = scheduler.schedule { error("never") }
        val group = scope.children.single()
        assertEquals(group, running.parent)
        scope.cancelChildren(CancellationException("not needed"))
        assertTrue(queued.isCompleted && running.isCancelled && !group.isCompleted)
        assertEquals("not needed", queued.getCompletionExceptionOrNull()?.message)
        gate.complete()
        assertTrue(running.isCompleted && group.isCompleted)
        assertEquals("runs", scheduler.run { "runs" })
        scope.cancel(null)
        assertTrue(scope.isCompleted && scheduler.schedule { error("never") }.isCancelled)
    }

    @Test
    fun delay_usesTheTimersOfTheUnderlyingDispatcher() {
        val underlying = StepDispatcher()
        var isOver = false
        CoroutineScope(underlying.prioritized(1)).launch {
            delay(1_000)
            isOver = true
        }
        while (underlying.step()) continue
        assertTrue(underlying.hasTimers)
        underlying.fireTimers()
        while (underlying.step()) continue
        assertTrue(isOver)
    }

    @Test
    fun holder_ofALock_isBoostedWithTheCoroutineInsideIt() {
        val underlying = StepDispatcher()
        val scope = CoroutineScope(underlying.prioritized(1, quantum = 1))
        val mutex = Mutex()
        val order = ArrayList<String>()
        scope.launch(Priority.LOW) { mutex.withLock { coroutineScope { launch { repeat(3) { yield() } } } } }
        underlying.step()
        assertTrue(mutex.isLocked)
        repeat(100) { scope.launch(Priority.HIGH) { order += "high" } }
        scope.launch(Priority.CRITICAL) { mutex.withLock { order += "critical" } }
        while (underlying.step()) continue
        assertEquals("critical", order.first())
    }
}

class SchedulerVersionKotlinxProbe : VersionKotlinxProbe()
