package baton.scheduler.bridge

import baton.Priority
import baton.scheduler.OnFullQueue
import baton.scheduler.PriorityPolicy
import baton.scheduler.SchedulerClosedException
import baton.scheduler.TaskRejectedException
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskSchedulerConfig
import baton.sync.Latch
import java.util.concurrent.CancellationException
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.cancel
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/** Tasks without a coroutine, with and without a scope. */
class StageTaskTest {
    private val log = ArrayList<Any>()
    private val scope = CoroutineScope(Job())

    private fun scheduler(isInScope: Boolean, capacity: Int = Int.MAX_VALUE): TaskScheduler =
        if (isInScope) {
            TaskScheduler(scope, 1, null, TaskSchedulerConfig(capacity = capacity))
        } else {
            newScheduler(1, null, PriorityPolicy.Strict, emptyMap(), 4, capacity, OnFullQueue.REJECT, null, null)
        }

    private inner class Logged(val name: String) : StageTask.Owner {
        override fun begin() {
            log += name
        }

        override fun refused(cause: Throwable) {
            log += cause
        }

        override fun cancelled(cause: Throwable) {
            log += "$name cancelled"
        }

        override fun isDone() = true
    }

    private fun TaskScheduler.add(name: String): StageTask =
        newStageTask(this, Priority.NORMAL, null, Logged(name)).also { it.submit() }

    private fun assertAtRest(scheduler: TaskScheduler, done: Long, failed: Long, cancelled: Long, withdrawn: Long) {
        val metrics = scheduler.metrics
        assertEquals(0, metrics.queued + metrics.running)
        val normal = metrics[Priority.NORMAL]
        assertEquals(
            listOf(done, failed, cancelled, withdrawn),
            listOf(normal.done, normal.failed, normal.cancelled, normal.withdrawn),
        )
        assertTrue(scope.coroutineContext.job.children.none())
        val drained: Latch = beginDrain(scheduler)
        assertEquals(0, drained.count)
    }

    @ParameterizedTest
    @ValueSource(booleans = [true, false])
    fun ended_severalTimes_freesTheSlotOnce(isInScope: Boolean) {
        val scheduler = scheduler(isInScope)
        val first = scheduler.add("first")
        val second = scheduler.add("second")
        val third = scheduler.add("third")
        repeat(3) { first.ended(null) }
        first.withdraw()
        assertEquals(listOf("first", "second"), log)
        assertEquals(1, scheduler.metrics.running)
        second.ended(IllegalStateException())
        assertEquals("third", log.last())
        third.ended(CancellationException())
        assertEquals(3, log.size)
        assertAtRest(scheduler, done = 1, failed = 1, cancelled = 1, withdrawn = 0)
    }

    @ParameterizedTest
    @ValueSource(booleans = [true, false])
    fun withdraw_queuedOrChosen_leavesAtOnce(isInScope: Boolean) {
        val scheduler = scheduler(isInScope)
        val chosen = scheduler.add("chosen")
        val queued = scheduler.add("queued")
        scheduler.add("last").also { last ->
            queued.withdraw()
            assertEquals(1, scheduler.metrics.queued)
            repeat(2) { chosen.withdraw() }
            assertEquals(listOf("chosen", "last"), log)
            last.ended(null)
        }
        assertAtRest(scheduler, done = 1, failed = 0, cancelled = 1, withdrawn = 1)
    }

    @Test
    fun withdraw_lastTaskOfADrainedScheduler_leavesTheScopeBeforeDrainEnds() {
        val scheduler = scheduler(isInScope = true)
        scheduler.pause()
        val task = scheduler.add("queued")
        val ended = beginDrain(scheduler)
        CoroutineScope(Dispatchers.Unconfined).launch {
            ended.await()
            log += scope.coroutineContext.job.children.count()
        }
        task.withdraw()
        assertEquals(listOf<Any>(0), log)
    }

    @ParameterizedTest
    @ValueSource(booleans = [true, false])
    fun refused_queueFullOrClosed_leavesTheScheduler(isInScope: Boolean) {
        val scheduler = scheduler(isInScope, capacity = 1)
        val first = scheduler.add("first")
        scheduler.add("queued")
        scheduler.add("rejected").withdraw()
        assertInstanceOf(TaskRejectedException::class.java, log.last())
        val cause = IllegalStateException("over")
        scheduler.close(cause)
        assertSame(cause, assertInstanceOf(SchedulerClosedException::class.java, log.last()).cause)
        first.ended(null)
        assertEquals(3, log.size)
        assertAtRest(scheduler, done = 1, failed = 0, cancelled = 0, withdrawn = 0)
    }

    @ParameterizedTest
    @ValueSource(booleans = [true, false])
    fun scope_cancelled_notifiesItsTasks(isInScope: Boolean) {
        val scheduler = scheduler(isInScope)
        val first = scheduler.add("first")
        val second = scheduler.add("second")
        scope.cancel()
        val told = if (isInScope) listOf("second cancelled", "first cancelled") else emptyList()
        assertEquals(listOf("first") + told, log)
        second.withdraw()
        first.ended(null)
        assertAtRest(scheduler, done = 1, failed = 0, cancelled = 0, withdrawn = 1)
        assertSame(isInScope, scheduler.scope.coroutineContext !== EmptyCoroutineContext)
    }
}
