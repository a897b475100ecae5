package baton.scheduler.tasks

import baton.Priority
import baton.Priority.CRITICAL
import baton.Priority.HIGH
import baton.Priority.LOW
import baton.Priority.NORMAL
import baton.reportingTo
import baton.scheduler.ScheduledTask
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.bridge.StageTask
import baton.scheduler.prioritized
import baton.sync.Mutex
import baton.sync.StepDispatcher
import baton.sync.withLock
import java.io.IOException
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CompletableJob
import kotlinx.coroutines.CoroutineExceptionHandler
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.cancelChildren
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.job
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Tasks are in the scheduler's scope as its children would be: it cancels them and waits for them. */
class TaskScopeTest {
    private val ran = ArrayList<String>()

    private fun TestScope.newScope(context: CoroutineContext = coroutineContext) = CoroutineScope(context + Job())

    private val CoroutineScope.children
        get() = coroutineContext.job.children

    @Test
    fun scope_waitsForTasks_notForASchedulerWithoutTasks() = runTest {
        coroutineScope {
            val scheduler = TaskScheduler(this, 1)
            repeat(3) { scheduler.schedule { delay(1.seconds) } }
        }
        assertEquals(3_000, currentTime)
        coroutineScope { TaskScheduler(this, 1) }
        val scope = newScope()
        val scheduler = TaskScheduler(scope, 1)
        repeat(3) { scheduler.schedule { delay(1.seconds) } }
        assertEquals(1, scope.children.count())
        delay(3.seconds)
        runCurrent()
        assertEquals(0, scope.children.count())
    }

    @Test
    fun scope_cancelled_cancelsRunningAndQueuedTasks_blocksAreNotCalled() = runTest {
        for (context in listOf<CoroutineContext>(Dispatchers.Unconfined, coroutineContext)) {
            val scope = newScope(context)
            val scheduler = TaskScheduler(scope, 2)
            val tasks =
                List(10) { i ->
                    scheduler.schedule {
                        ran += "$i"
                        delay(1.hours)
                    }
                }
            runCurrent()
            scope.cancel()
            val late = scheduler.schedule { ran += "late" }
            tasks.joinAll()
            assertTrue((tasks + late).all { it.isCancelled })
            assertEquals(listOf("0", "1"), ran)
            assertEquals(2L to 9L, scheduler.metrics[NORMAL].let { it.cancelled to it.withdrawn })
            assertAtRest(scheduler)
            scheduler.drain()
            ran.clear()
        }
    }

    @Test
    fun scope_cancelled_tasksOfAllPhases_haveItsException() = runTest {
        val scope = newScope()
        val scheduler = TaskScheduler(scope, 1, config = TaskSchedulerConfig(capacity = 2))
        val tasks = ArrayList<ScheduledTask<*>>()
        for (level in listOf(NORMAL, LOW, HIGH)) tasks += scheduler.schedule(level) { delay(1.hours) }
        val awaitsCapacity = launch { scheduler.submit(key = "awaits capacity") { ran += "never" } }
        runCurrent()
        tasks += scheduler.tasks("awaits capacity")
        assertEquals(1, scheduler.metrics.waiting)
        val cause = CancellationException("over")
        scope.cancel(cause)
        tasks += scheduler.schedule { ran += "never" }
        runCurrent()
        assertEquals(5, tasks.size)
        for (task in tasks) assertSame(cause, task.getCompletionExceptionOrNull())
        assertTrue(awaitsCapacity.isCompleted)
        assertEquals(emptyList<String>(), ran)
        assertAtRest(scheduler)
    }

    @Test
    fun scope_cancelledByAFailure_tasksNameIt() = runTest {
        val failure = IOException("disk")
        val scope = CoroutineScope(StepDispatcher() + Job())
        val scheduler = TaskScheduler(scope, 1)
        val task = scheduler.schedule { ran += "never" }
        scope.coroutineContext.job.let { it as CompletableJob }.completeExceptionally(failure)
        val seen = task.getCompletionExceptionOrNull()
        assertTrue(seen is CancellationException)
        assertSame(failure, generateSequence(seen) { it.cause }.last())
    }

    @Test
    fun scope_cancelled_waitsForTasksThatCleanUp() = runTest {
        val scope = newScope()
        val scheduler = TaskScheduler(scope, 2)
        repeat(2) { i ->
            scheduler.schedule {
                try {
                    delay(1.hours)
                } finally {
                    withContext(NonCancellable) { delay((1 + i).seconds) }
                }
            }
        }
        runCurrent()
        scope.cancel()
        assertEquals(1, scope.children.count())
        scope.coroutineContext.job.join()
        assertEquals(2_000, currentTime)
        assertEquals(0, scope.children.count())
        assertAtRest(scheduler)
    }

    @Test
    fun scope_cancelled_waitsForATaskOfTheJavaApi() {
        val scope = CoroutineScope(Job())
        val scheduler = TaskScheduler(scope, 1)
        val task = scheduler.addStage(ran) {}
        scope.cancel()
        assertEquals(listOf("begun", "cancelled"), ran)
        assertFalse(scope.coroutineContext.job.isCompleted)
        task.ended(null)
        assertTrue(scope.coroutineContext.job.isCompleted)
    }

    @Test
    fun codeOfOneTaskThrows_othersAreCancelled() {
        cancelWithAHostileTask { scope.cancel() }
        cancelWithAHostileTask { assertEquals(3, cancel("key")) }
    }

    @Test
    fun codeOfATaskThrows_thatIsScheduledInACancelledScope_taskEndsUnbegun() {
        val scope = CoroutineScope(Dispatchers.Unconfined + Job())
        val scheduler = TaskScheduler(scope, 1)
        scope.cancel()
        val reported = ArrayList<Throwable>()
        reportingTo(reported) { scheduler.addStage(ran, onCancelled = ::failHostilely) }
        assertEquals(setOf("hostile"), reported.map { it.message }.toSet())
        assertEquals(setOf("cancelled"), ran.toSet())
        assertTrue(scope.coroutineContext.job.isCompleted)
        assertAtRest(scheduler)
    }

    private fun failHostilely(task: StageTask) {
        task.withdraw()
        error("hostile")
    }

    private fun cancelWithAHostileTask(cancel: TaskScheduler.() -> Unit) {
        ran.clear()
        val scope = CoroutineScope(Dispatchers.Unconfined + Job())
        val scheduler = TaskScheduler(scope, 1)
        val running = scheduler.schedule(key = "key") { delay(1.hours) }
        scheduler.addStage(ran, "key", ::failHostilely)
        val queued = scheduler.schedule(key = "key") { ran += "never" }
        val reported = ArrayList<Throwable>()
        reportingTo(reported) { scheduler.cancel() }
        assertEquals(listOf("hostile"), reported.map { it.message })
        assertTrue(running.isCancelled && queued.isCancelled)
        assertEquals(listOf("cancelled"), ran)
        assertTrue(scope.children.none())
        assertEquals(scope.coroutineContext.job.isCancelled, scope.coroutineContext.job.isCompleted)
        assertAtRest(scheduler)
    }

    @Test
    fun scope_cancelled_handlerOfATaskUsesTheScheduler_allEnd() {
        for (isChildren in listOf(false, true)) {
            val scope = CoroutineScope(Dispatchers.Unconfined + Job())
            val scheduler = TaskScheduler(scope, 1)
            val tasks = List(4) { scheduler.schedule(key = "key") { delay(1.hours) } }
            val late = ArrayList<ScheduledTask<*>>()
            tasks[1].invokeOnCompletion {
                late += scheduler.schedule(key = "key") { awaitCancellation() }
                scheduler.cancel("key")
                scope.coroutineContext.cancelChildren()
                scheduler.close()
                late += scheduler.schedule { ran += "never" }
            }
            if (isChildren) scope.coroutineContext.cancelChildren() else scope.cancel()
            assertTrue((tasks + late).all { it.isCompleted }, "$isChildren: $scheduler")
            assertEquals(2, late.size)
            assertEquals(0, scope.children.count())
            assertEquals(emptyList<String>(), ran)
            assertAtRest(scheduler)
        }
    }

    @Test
    fun key_throws_scopeDoesNotWait() {
        val key =
            object {
                override fun hashCode(): Int = error("no hash")
            }
        val scope = CoroutineScope(Dispatchers.Unconfined + Job())
        val scheduler = TaskScheduler(scope, 1)
        assertEquals("no hash", runCatching { scheduler.schedule(key = key) {} }.exceptionOrNull()?.message)
        assertEquals(0, scope.children.count())
        assertAtRest(scheduler)
    }

    @Test
    fun parent_failureOfACoroutineLaunchedInIt_cancelsNoTask() = runTest {
        val scope = newScope(coroutineContext + CoroutineExceptionHandler { _, e -> ran += "${e.message}" })
        val scheduler = TaskScheduler(scope, 1)
        val task = scheduler.schedule { delay(1.seconds) }
        CoroutineScope(scope.coroutineContext + checkNotNull(task.parent)).launch { error("launched") }
        task.join()
        assertEquals(listOf("launched"), ran)
        assertFalse(task.isCancelled)
        assertEquals("runs", scheduler.run { "runs" })
    }

    @Test
    fun scope_cancelled_queueIsFull_newTaskIsCancelledAndNotRejected() = runTest {
        val scope = newScope()
        val scheduler = TaskScheduler(scope, 1, config = TaskSchedulerConfig(capacity = 0))
        scheduler.schedule { withContext(NonCancellable) { delay(1.seconds) } }
        runCurrent()
        scope.cancel()
        assertTrue(scheduler.schedule { ran += "never" }.isCancelled)
        assertEquals(1, scheduler.metrics[NORMAL].withdrawn)
        scope.coroutineContext.job.join()
        assertAtRest(scheduler)
    }

    @Test
    fun cancelChildren_cancelsTheTasks_noneGetsTheSlotOfAnother() = runTest {
        for (context in listOf<CoroutineContext>(Dispatchers.Unconfined, coroutineContext)) {
            val scope = newScope(context)
            val scheduler = TaskScheduler(scope, 1)
            val tasks =
                Priority.entries.map { level ->
                    scheduler.schedule(level) {
                        ran += "$level"
                        delay(1.hours)
                    }
                }
            runCurrent()
            scope.coroutineContext.cancelChildren()
            runCurrent()
            assertTrue(tasks.all { it.isCancelled && it.isCompleted })
            assertEquals(listOf("${Priority.entries.first()}"), ran)
            assertEquals("runs", scheduler.run { "runs" })
            assertEquals(0, scope.children.count())
            assertAtRest(scheduler)
            ran.clear()
        }
    }

    @Test
    fun cancelChildren_whileOneOfThemCleansUp_newTasksRun_andAreNotCancelledWithIt() = runTest {
        val scope = newScope()
        val scheduler = TaskScheduler(scope, 2)
        val old = scheduler.schedule { withContext(NonCancellable) { delay(2.seconds) } }
        runCurrent()
        scope.coroutineContext.cancelChildren()
        assertEquals("runs", scheduler.run { "runs" })
        val new = scheduler.schedule { delay(1.seconds) }
        runCurrent()
        assertEquals(2, scope.children.count())
        old.join()
        assertTrue(old.isCancelled && !new.isCancelled)
        assertEquals(0, scope.children.count())
    }

    @Test
    fun scope_completed_newTaskIsCancelled() = runTest {
        val scope = newScope()
        val scheduler = TaskScheduler(scope, 1)
        (scope.coroutineContext.job as CompletableJob).complete()
        val task = scheduler.schedule { ran += "never" }
        assertTrue(task.isCancelled && ran.isEmpty())
        assertAtRest(scheduler)
    }

    @Test
    fun parent_ofATask_isInTheScope_untilTheTaskHasEnded() = runTest {
        val scope = newScope()
        val scheduler = TaskScheduler(scope, 1)
        val gate = CompletableDeferred<Unit>()
        val task =
            scheduler.schedule {
                gate.await()
                currentCoroutineContext().job.parent
            }
        val group = scope.children.single()
        assertSame(group, task.parent)
        assertSame(scope.coroutineContext.job, group.parent)
        gate.complete(Unit)
        assertSame(group, task.await())
        assertNull(task.parent)
        assertTrue(group.isCompleted && !group.isCancelled)
    }

    @Test
    fun scope_withoutAJob_hasNoParent() = runTest {
        val scope =
            object : CoroutineScope {
                override val coroutineContext: CoroutineContext = EmptyCoroutineContext
            }
        val scheduler = TaskScheduler(scope, 1)
        val task = scheduler.schedule { currentCoroutineContext().job.parent }
        assertNull(task.parent)
        assertNull(task.await())
    }

    @Test
    fun boost_ofTheCoroutineAroundAScheduler_reachesItsTasks() {
        val underlying = StepDispatcher()
        val scope = CoroutineScope(underlying.prioritized(1, quantum = 1))
        val mutex = Mutex()
        scope.launch(LOW) {
            mutex.withLock { coroutineScope { TaskScheduler(this, 1).schedule(LOW) { ran += "task" } } }
        }
        underlying.step()
        assertTrue(mutex.isLocked)
        repeat(10) { scope.launch(HIGH) { ran += "high" } }
        scope.launch(CRITICAL) { mutex.withLock { ran += "critical" } }
        while (underlying.step()) continue
        assertEquals(listOf("task", "critical"), ran.take(2))
    }
}
