package baton.scheduler.tasks

import baton.Priority
import baton.scheduler.ScheduledTask
import baton.scheduler.TaskScheduler
import baton.scheduler.prioritized
import baton.waiting.threads.Trampoline
import java.util.concurrent.Executors
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.asContextElement
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.cancel
import kotlinx.coroutines.delay
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.suspendCancellableCoroutine
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
    fun tasks_queued_startMostUrgentFirst() {
        scheduler.schedule { scheduler.schedule(Priority.CRITICAL) { ran += "urgent" } }
        repeat(3) { scheduler.schedule(Priority.LOW) { ran += "low" } }
        steps.runAll()
        assertEquals(listOf("urgent", "low", "low", "low"), ran)
    }

    @Test
    fun task_suspended_keepsItsSlot() {
        scheduler.schedule { yield(); ran += "first" }
        scheduler.schedule { ran += "second" }
        steps.step()
        assertTrue(ran.isEmpty())
        assertEquals(1, scheduler.metrics.running)
        steps.runAll()
        assertEquals(listOf("first", "second"), ran)
    }

    @Test
    fun task_cancelledByThePreviousTask_blockIsNotCalled() {
        lateinit var victim: ScheduledTask<Unit>
        val first = scheduler.schedule { victim.cancel() }
        victim = scheduler.schedule { ran += "victim" }
        val third = scheduler.schedule { ran += "third" }
        steps.runAll()
        assertTrue(first.isCompleted && victim.isCancelled && third.isCompleted)
        assertEquals(listOf("third"), ran)
        assertEquals(0, scheduler.metrics.running + scheduler.metrics.queued)
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
    fun task_fails_nextTaskGetsItsSlot() {
        val failing = scheduler.schedule { error("fails") }
        scheduler.schedule { ran += "next" }
        steps.step()
        assertTrue(failing.isCancelled)
        steps.step()
        assertEquals(listOf("next"), ran)
    }

    @Test
    fun scope_cancelledByATask_noOtherTaskBegins() {
        val tasks = List(3) { scheduler.schedule { ran += "$it"; scheduler.scope.cancel() } }
        steps.runAll()
        assertEquals(listOf("0"), ran)
        assertTrue(tasks.all { it.isCancelled })
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
    fun pool_shutDownByATask_cancelsQueuedTasks() = runBlocking {
        val pool = Executors.newSingleThreadExecutor()
        val scheduler = TaskScheduler(CoroutineScope(pool.asCoroutineDispatcher()), 1)
        scheduler.pause()
        val first = scheduler.schedule { pool.shutdown() }
        val others = List(3) { scheduler.schedule { ran += "never" } }
        scheduler.resume()
        (others + first).joinAll()
        assertTrue(others.all { it.isCancelled } && !first.isCancelled)
        assertTrue(ran.isEmpty())
    }

    @Test
    fun slot_childEndsLast_isPassedOnOnceTheTaskHasVisiblyEnded() = runBlocking {
        val scheduler = TaskScheduler(CoroutineScope(Dispatchers.Unconfined), 1)
        val first = scheduler.schedule { launch(Dispatchers.Default) { delay(20) } }
        // Runs on the thread of the child that ends the first task: join would deadlock if that had not ended visibly.
        val second = scheduler.schedule {
            @Suppress("RunBlockingInSuspendFunction")
            runBlocking { first.join() }
        }
        withTimeout(10.seconds) { second.await() }
    }

    @Test
    fun slot_taskFails_isPassedOnOnceTheTaskHasVisiblyEnded() {
        val first = scheduler.schedule { yield(); error("fails") }
        scheduler.schedule { ran += "${first.state} ${first.isCompleted}" }
        steps.runAll()
        assertEquals(listOf("DONE true"), ran)
    }

    @Test
    fun threadLocals_ofTheScope_areSetForEachTask() {
        val local = ThreadLocal.withInitial { "none" }
        val scheduler = TaskScheduler(CoroutineScope(steps + Job() + local.asContextElement("scope")), 1)
        repeat(3) {
            scheduler.schedule {
                ran += local.get()
                local.set("dirty")
            }
        }
        steps.runAll()
        assertEquals(List(3) { "scope" }, ran)
        assertEquals("none", local.get())
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

    @Test
    fun job_isActiveFromTheBeginning_blockSeesIt() {
        lateinit var inside: Job
        val task = scheduler.schedule {
            inside = coroutineContext[Job]!!
            suspendCancellableCoroutine<Unit> { }
        }
        assertTrue(task.isActive)
        assertFalse(task.start())
        steps.runAll()
        task.cancel()
        assertTrue(inside.isCancelled)
        assertFalse(inside.isCompleted)
        steps.runAll()
        assertTrue(inside.isCompleted && task.isCompleted)
    }
}
