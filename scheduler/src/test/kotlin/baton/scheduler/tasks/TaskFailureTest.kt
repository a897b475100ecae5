package baton.scheduler.tasks

import baton.Priority.NORMAL
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskState
import java.io.IOException
import java.util.concurrent.Executors
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineExceptionHandler
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.cancel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.isActive
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Failing tasks and failing dispatchers. */
class TaskFailureTest {
    private val ran = ArrayList<String>()

    private fun TestScope.scheduler(maxConcurrency: Int = 1) = TaskScheduler(this, maxConcurrency, "test")

    @Test
    fun failure_ofATask_reachesItsOwnAwaitersOnly() = runTest {
        val scheduler = scheduler(2)
        val failing = scheduler.schedule<Int> {
            delay(1)
            throw IOException("broken")
        }
        val child = scheduler.schedule { launch { throw IOException("child broken") } }
        val other = scheduler.schedule {
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

    @Test
    fun dispatcher_shutDown_cancelsTheTaskAndFreesItsSlot() = runBlocking {
        val executor = Executors.newSingleThreadExecutor()
        executor.shutdown()
        val scheduler = TaskScheduler(CoroutineScope(executor.asCoroutineDispatcher() + Job()), 1)
        val tasks = List(20) { scheduler.schedule { ran += "never" } }
        tasks.joinAll()
        assertTrue(tasks.all { it.isCancelled } && ran.isEmpty())
        assertEquals(0, scheduler.metrics.running + scheduler.metrics.queued)
    }

    @Test
    fun dispatcher_throws_failsTheTaskAndFreesItsSlot() = runBlocking {
        val broken = object : CoroutineDispatcher() {
            override fun dispatch(context: CoroutineContext, block: Runnable) = error("dispatcher is broken")
        }
        val scheduler = TaskScheduler(CoroutineScope(broken + Job()), 1)
        val tasks = List(20) { scheduler.schedule { ran += "never" } }
        tasks.joinAll()
        assertTrue(tasks.all { it.isCancelled } && ran.isEmpty())
        assertEquals(0, scheduler.metrics.running + scheduler.metrics.queued)
    }
}
