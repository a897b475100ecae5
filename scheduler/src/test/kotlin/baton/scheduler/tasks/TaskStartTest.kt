package baton.scheduler.tasks

import baton.Priority
import baton.scheduler.ScheduledTask
import baton.scheduler.TaskScheduler
import baton.scheduler.prioritized
import baton.waiting.threads.Trampoline
import java.util.concurrent.Executors
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.cancel
import kotlinx.coroutines.delay
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The thread on which tasks begin and their order; each start is one dispatch. */
class TaskStartTest {
    /** Queues blocks; the test runs them by [step] and [runAll]. */
    private class Steps : CoroutineDispatcher() {
        val blocks = ArrayDeque<Runnable>()
        var dispatches = 0

        override fun dispatch(context: CoroutineContext, block: Runnable) {
            dispatches++
            blocks.addLast(block)
        }

        fun step() = blocks.removeFirst().run()

        fun runAll() {
            while (blocks.isNotEmpty()) step()
        }
    }

    private val steps = Steps()
    private val scheduler = TaskScheduler(CoroutineScope(steps + Job()), 1)
    private val ran = ArrayList<String>()

    @Test
    fun tasks_short_takeOneDispatchEach() {
        val tasks = List(40) { scheduler.schedule { ran += "$it" } }
        steps.runAll()
        assertTrue(tasks.all { it.isCompleted })
        assertEquals(List(40) { "$it" }, ran)
        assertEquals(40, steps.dispatches)
    }

    @Test
    fun tasks_short_alternateWithOtherWorkOfTheDispatcher() {
        repeat(3) { scheduler.schedule { ran += "task" } }
        repeat(2) { steps.dispatch(Job()) { ran += "other" } }
        steps.runAll()
        assertEquals(listOf("task", "other", "other", "task", "task"), ran)
    }

    @Test
    fun tasks_inSeveralSlotsOnOneThread_runInTheOrderOfTheirStarts() {
        scheduler.maxConcurrency = 2
        repeat(6) { scheduler.schedule { ran += "$it" } }
        steps.runAll()
        assertEquals(List(6) { "$it" }, ran)
    }

    @Test
    fun criticalTask_started_runsBeforeLowTasksStartedLater() {
        scheduler.maxConcurrency = 2
        scheduler.schedule(Priority.LOW) { ran += "low" }
        scheduler.schedule(Priority.CRITICAL) { ran += "critical" }
        repeat(20) { scheduler.schedule(Priority.LOW) { ran += "low" } }
        steps.runAll()
        assertEquals(1, ran.indexOf("critical"))
    }

    /** A caller deep inside callbacks may block its thread after scheduling, so the dispatch must not be postponed. */
    @Test
    fun schedule_atAnyDepthOfCallbacks_reachesTheDispatcherAtOnce() {
        val levels = generateSequence { Trampoline.enter() }.takeWhile { it }.count()
        try {
            scheduler.schedule { ran += "task" }
            assertEquals(1, steps.dispatches)
        } finally {
            repeat(levels) { Trampoline.leave() }
        }
        steps.runAll()
        assertEquals(listOf("task"), ran)
    }

    @Test
    fun task_cancelledOnceItHasItsSlot_blockIsNotCalled() {
        lateinit var next: ScheduledTask<Unit>
        val first = scheduler.schedule { ran += "first" }
        next = scheduler.schedule { ran += "next" }
        // The slot belongs to the next task already.
        first.invokeOnCompletion { next.cancel() }
        steps.runAll()
        assertTrue(next.isCancelled)
        assertEquals(listOf("first"), ran)
        assertEquals(1, scheduler.metrics[Priority.NORMAL].cancelled)
        assertEquals(0, scheduler.metrics.running)
    }

    @Test
    fun task_endsOnAnotherThread_nextTaskIsDispatched() = runBlocking {
        Executors.newSingleThreadExecutor().asCoroutineDispatcher().use { own ->
            val scheduler = TaskScheduler(CoroutineScope(own), 1)
            val names = ArrayList<String>()
            // The task ends when its child ends, on a thread of Dispatchers.Default.
            val first = scheduler.schedule { async(Dispatchers.Default) { delay(1) } }
            val second = scheduler.schedule { names += Thread.currentThread().name }
            val here = withContext(own) { Thread.currentThread().name }
            joinAll(first, second)
            assertEquals(listOf(here.substringBefore(" @")), names.map { it.substringBefore(" @") })
        }
    }

    @Test
    fun task_interruptsItsThread_nextTaskIsNotInterrupted() = runBlocking {
        Executors.newSingleThreadExecutor().asCoroutineDispatcher().use { own ->
            val scheduler = TaskScheduler(CoroutineScope(own), 1)
            scheduler.schedule { Thread.currentThread().interrupt() }
            assertFalse(scheduler.run { Thread.currentThread().isInterrupted })
        }
    }

    @Test
    fun slot_childEndsLast_isPassedOnOnceTheTaskHasVisiblyEnded() = runBlocking {
        val scheduler = TaskScheduler(CoroutineScope(Dispatchers.Unconfined), 1)
        val first = scheduler.schedule { launch(Dispatchers.Default) { delay(20) } }
        // Runs on the thread of the child that ends the first task: join would deadlock if that had not ended visibly.
        val second = scheduler.schedule { @Suppress("RunBlockingInSuspendFunction") runBlocking { first.join() } }
        withTimeout(2.minutes) { second.await() }
    }

    @Test
    fun slot_taskFails_isPassedOnOnceTheTaskHasVisiblyEnded() {
        val first =
            scheduler.schedule {
                yield()
                error("fails")
            }
        scheduler.schedule { ran += "${first.state} ${first.isCompleted}" }
        steps.runAll()
        assertEquals(listOf("DONE true"), ran)
    }

    @Test
    fun priorityDispatcher_moreUrgentBlocks_runBetweenTasks() {
        val levels = steps.prioritized(1)
        val scheduler = TaskScheduler(CoroutineScope(levels + Job()), 1)
        repeat(3) {
            scheduler.schedule(Priority.LOW) {
                ran += "low"
                levels.dispatch(Priority.CRITICAL) { ran += "urgent" }
            }
        }
        steps.runAll()
        assertEquals(List(6) { if (it % 2 == 0) "low" else "urgent" }, ran)
        assertEquals(0, scheduler.metrics.running)
    }
}
