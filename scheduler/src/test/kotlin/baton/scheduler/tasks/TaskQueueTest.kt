package baton.scheduler.tasks

import baton.Priority
import baton.Priority.CRITICAL
import baton.Priority.HIGH
import baton.Priority.IDLE
import baton.Priority.LOW
import baton.Priority.NORMAL
import baton.scheduler.OnFullQueue
import baton.scheduler.ScheduledTask
import baton.scheduler.TaskDeadlineException
import baton.scheduler.TaskRejectedException
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.TaskShedException
import baton.sync.StepDispatcher
import baton.sync.assertContains
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource
import org.junit.jupiter.params.provider.ValueSource

/** A queue with a capacity, and tasks with a deadline. */
class TaskQueueTest {
    private val ran = ArrayList<String>()

    private fun TestScope.scheduler(capacity: Int, onFull: OnFullQueue, places: Int = 1) =
        TaskScheduler(this, places, "bounded", TaskSchedulerConfig(capacity = capacity, onFull = onFull))

    private fun ScheduledTask<*>.failure() = if (isCompleted) getCompletionExceptionOrNull() else null

    @ParameterizedTest
    @EnumSource
    fun schedule_queueIsFull_returnsAFailedTask(onFull: OnFullQueue) = runTest {
        val scheduler = scheduler(2, onFull)
        scheduler.schedule { delay(1.seconds) }
        repeat(2) { scheduler.schedule { ran += "queued" } }
        val late = scheduler.schedule(key = "late") { ran += "never" }
        assertContains(late.failure()?.message, "'late'", "NORMAL", "capacity = 2", "'bounded'", "queued = 2")
        assertEquals(TaskRejectedException::class.java, late.failure()?.javaClass)
        assertEquals(1, scheduler.metrics[NORMAL].rejected)
        scheduler.drain()
        assertEquals(listOf("queued", "queued"), ran)
        assertSumsFit(scheduler.metrics)
    }

    @ParameterizedTest
    @EnumSource
    fun schedule_slotIsFree_needsNoCapacity(onFull: OnFullQueue) = runTest {
        val scheduler = scheduler(0, onFull, places = 10)
        val tasks = List(11) { scheduler.schedule { delay(1.seconds) } }
        assertEquals(10, tasks.count { it.failure() == null })
        scheduler.drain()
    }

    @Test
    fun pause_queueHoldsItsCapacityAndNoMore() = runTest {
        val scheduler = scheduler(2, OnFullQueue.REJECT, places = 10)
        scheduler.pause()
        val tasks = List(3) { scheduler.schedule { ran += "$it" } }
        assertTrue(tasks[2].failure() is TaskRejectedException)
        scheduler.resume()
        scheduler.drain()
        assertEquals(2, ran.size)
    }

    @Test
    fun submit_queueIsFull_admittedInOrder() = runTest {
        val scheduler = scheduler(1, OnFullQueue.SUSPEND)
        val levels = listOf(LOW, LOW, LOW, CRITICAL, IDLE, HIGH)
        for ((i, level) in levels.withIndex()) {
            launch {
                val task =
                    scheduler.submit(level) {
                        delay(1.seconds)
                        ran += "$i done"
                    }
                ran += "$i in"
                task.await()
            }
        }
        runCurrent()
        assertEquals(4, scheduler.metrics.waiting)
        assertEquals(listOf("0 in", "1 in"), ran)
        assertTrue(scheduler.schedule(CRITICAL) {}.failure() is TaskRejectedException)
        scheduler.drain()
        runCurrent()
        assertEquals(
            "0 in, 1 in, 0 done, 2 in, 1 done, 3 in, 2 done, 4 in, 3 done, 5 in, 4 done, 5 done",
            ran.joinToString(),
        )
        assertSumsFit(scheduler.metrics)
    }

    @ParameterizedTest
    @ValueSource(ints = [0, 1, 3])
    fun submit_anyNumberOfCallers_allAreAdmitted(capacity: Int) = runTest {
        val scheduler = scheduler(capacity, OnFullQueue.SUSPEND, places = 2)
        var most = 0
        val answers =
            List(50) { i ->
                    async {
                        scheduler.run(Priority.entries[i % 5]) {
                            most = maxOf(most, scheduler.metrics.queued)
                            delay(1)
                            i
                        }
                    }
                }
                .map { it.await() }
        assertEquals(List(50) { it }, answers)
        assertTrue(most <= capacity)
        assertEquals(25, currentTime)
    }

    @Test
    fun dropLowest_queueIsFull_shedsTheTailOfTheLowestLevel() = runTest {
        val scheduler = scheduler(4, OnFullQueue.DROP_LOWEST)
        scheduler.schedule { delay(1.seconds) }
        val tasks =
            listOf(LOW, LOW, NORMAL, HIGH).mapIndexed { i, level -> scheduler.schedule(level, key = i) { ran += "$i" } }
        val second = scheduler.schedule(LOW) { ran += "never" }
        assertEquals(TaskRejectedException::class.java, second.failure()?.javaClass)
        val first = scheduler.schedule(NORMAL) { ran += "new normal" }
        assertNull(first.failure())
        assertTrue(tasks[1].failure() is TaskShedException)
        assertContains(tasks[1].failure()?.message, "'1'", "LOW", "capacity = 4", "bounded")
        scheduler.schedule(CRITICAL) { ran += "new critical" }
        assertTrue(tasks[0].failure() is TaskShedException)
        scheduler.drain()
        assertEquals("new critical, 3, 2, new normal", ran.joinToString())
        assertEquals(2L to 1L, scheduler.metrics[LOW].shed to scheduler.metrics[LOW].rejected)
        assertSumsFit(scheduler.metrics)
    }

    @Test
    fun submit_rejectOrDropLowest_doesNotWait() = runTest {
        for (onFull in listOf(OnFullQueue.REJECT, OnFullQueue.DROP_LOWEST)) {
            val scheduler = scheduler(0, onFull)
            scheduler.schedule { delay(1.seconds) }
            assertTrue(scheduler.submit {}.failure() is TaskRejectedException)
            assertTrue(runCatching { scheduler.run {} }.exceptionOrNull() is TaskRejectedException)
        }
    }

    @Test
    fun deadline_passesBeforeTheStart_taskFails_blockIsNotCalled() = runTest {
        val scheduler = scheduler(Int.MAX_VALUE, OnFullQueue.SUSPEND)
        scheduler.schedule { delay(10.seconds) }
        val late = scheduler.schedule(key = "late", deadline = 9_999.milliseconds) { ran += "never" }
        val inTime =
            scheduler.schedule(deadline = 10_001.milliseconds) {
                delay(1.hours)
                "no limit once it runs"
            }
        val e = runCatching { late.await() }.exceptionOrNull()
        assertTrue(e is TaskDeadlineException && (e as Throwable) !is CancellationException)
        assertContains(e?.message, "'late'", "9.999s")
        assertEquals(9_999, currentTime)
        assertEquals(1, scheduler.metrics.queued)
        assertEquals("no limit once it runs", inTime.await())
        assertEquals(1, scheduler.metrics[NORMAL].expired)
        assertSumsFit(scheduler.metrics)
    }

    @Test
    fun deadline_zeroOrLess_meansNowOrNotAtAll_infiniteNever() = runTest {
        for (deadline in listOf(Duration.ZERO, (-1).nanoseconds, (-1).seconds, -Duration.INFINITE)) {
            val scheduler = scheduler(Int.MAX_VALUE, OnFullQueue.SUSPEND)
            val now = scheduler.schedule(deadline = deadline) { delay(1.seconds) }
            val not = scheduler.schedule(deadline = deadline) { ran += "never" }
            val submitted = scheduler.submit(deadline = deadline) { ran += "never" }
            val run = runCatching { scheduler.run(deadline = deadline) { ran += "never" } }
            val never = scheduler.schedule(deadline = Duration.INFINITE) { ran += "ran" }
            assertNull(now.failure())
            assertTrue(not.failure() is TaskDeadlineException)
            assertTrue(submitted.failure() is TaskDeadlineException)
            assertTrue(run.exceptionOrNull() is TaskDeadlineException)
            never.join()
        }
        assertEquals(List(4) { "ran" }, ran)
    }

    @Test
    fun deadline_pausedOrAwaitingCapacity_stillCounts() = runTest {
        val scheduler = scheduler(1, OnFullQueue.SUSPEND)
        scheduler.pause()
        scheduler.schedule(deadline = 2.seconds) { ran += "never" }
        val awaiting = async { scheduler.submit(deadline = 1.seconds) { ran += "never" } }
        assertTrue(awaiting.await().failure() is TaskDeadlineException)
        assertEquals(1_000, currentTime)
        delay(1_001)
        assertEquals(2, scheduler.metrics[NORMAL].expired)
        assertEquals(0, scheduler.metrics.queued + scheduler.metrics.waiting)
    }

    @Test
    fun deadline_taskStartsOrLeaves_timerIsStopped() {
        val underlying = StepDispatcher()
        val scheduler = TaskScheduler(CoroutineScope(underlying + Job()), 1)
        scheduler.pause()
        for (end in listOf<(ScheduledTask<*>) -> Unit>({ scheduler.resume() }, { it.cancel() })) {
            val task = scheduler.schedule(deadline = 1.hours) { awaitCancellation() }
            assertTrue(underlying.hasTimers)
            end(task)
            assertFalse(underlying.hasTimers)
        }
        assertEquals(1, scheduler.metrics.running)
    }
}
