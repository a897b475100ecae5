package baton.scheduler.stress

import baton.Priority
import baton.scheduler.OnFullQueue
import baton.scheduler.ScheduledTask
import baton.scheduler.TaskDeadlineException
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.prioritized
import baton.scheduler.tasks.assertSumsFit
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.ThreadLocalRandom
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicIntegerArray
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration.Companion.microseconds
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.cancelChildren
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.isActive
import kotlinx.coroutines.job
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Many threads use a scheduler at once; the test counts starts and ends. */
class TaskSchedulerStressTest {
    private val random
        get() = ThreadLocalRandom.current()

    private val running = AtomicInteger()
    private val called = AtomicIntegerArray(TASKS)
    private val numbers = AtomicInteger()

    /** The exception of a task stays in the task. */
    private val violations = ConcurrentLinkedQueue<String>()

    /** The block of a task: at most [bound] run at a time, none twice. */
    private suspend fun work(number: Int, bound: Int) {
        if (called.incrementAndGet(number) != 1) violations += "task $number was called twice"
        val now = running.incrementAndGet()
        try {
            if (now > bound) violations += "$now run, bound $bound"
            when (random.nextInt(4)) {
                0 -> yield()
                1 -> delay(20.microseconds)
                2 -> throw Expected
            }
        } finally {
            running.decrementAndGet()
        }
    }

    private object Expected : RuntimeException("expected", null, false, false) {
        private fun readResolve(): Any = Expected
    }

    private suspend fun TaskScheduler.oneCall(bound: Int, kept: ConcurrentLinkedQueue<ScheduledTask<*>>) {
        val number = numbers.getAndIncrement()
        if (number >= TASKS) return
        val level = Priority.entries[random.nextInt(5)]
        val deadline = if (random.nextInt(8) == 0) random.nextInt(300).microseconds else null
        when (random.nextInt(4)) {
            0 ->
                coroutineScope {
                    // Called at once, and so not by a caller that is cancelled already, which schedules no task.
                    val call =
                        launch(start = CoroutineStart.UNDISPATCHED) {
                            runCatching { run(level, number % 100, deadline) { work(number, bound) } }
                                .onFailure { if (it is CancellationException) throw it }
                        }
                    withTimeoutOrNull(random.nextInt(1, 3).milliseconds) { call.join() }
                    call.cancelAndJoin()
                }
            1 -> kept += submit(level, number % 100, deadline) { work(number, bound) }
            else -> kept += schedule(level, deadline = deadline) { work(number, bound) }
        }
        val other = kept.randomPeek() ?: return
        when (random.nextInt(6)) {
            0 -> other.cancel()
            1,
            2 -> other.priority = Priority.entries[random.nextInt(5)]
            3 -> withTimeoutOrNull(100.microseconds) { other.join() }
            4 -> cancel(random.nextInt(100))
        }
    }

    private fun ConcurrentLinkedQueue<ScheduledTask<*>>.randomPeek(): ScheduledTask<*>? =
        if (random.nextInt(3) == 0) poll() else peek()

    private fun stress(
        context: CoroutineContext,
        config: TaskSchedulerConfig,
        bound: Int,
        disturb: suspend TaskScheduler.() -> Unit,
    ) =
        runBlocking(Dispatchers.Default) {
            val scope = CoroutineScope(context + Job())
            val scheduler = TaskScheduler(scope, bound, "stress", config)
            val kept = ConcurrentLinkedQueue<ScheduledTask<*>>()
            withTimeout(2.minutes) {
                coroutineScope {
                    repeat(6) { launch { while (numbers.get() < TASKS) scheduler.oneCall(bound, kept) } }
                    launch { while (numbers.get() < TASKS) scheduler.disturb() }
                }
                scheduler.resume()
                scheduler.drain()
            }
            val metrics = scheduler.metrics
            assertEquals(emptyList<String>(), violations.toList())
            assertEquals(0, running.get())
            assertEquals(0, metrics.queued + metrics.running + metrics.waiting)
            assertSumsFit(metrics)
            val calls = (0 until TASKS).sumOf { called[it] }
            val all = Priority.entries.map { metrics[it] }
            assertEquals(TASKS.toLong(), all.sumOf { it.scheduled })
            val ended = all.sumOf { it.done + it.failed }
            assertTrue(calls in ended..all.sumOf { it.started }) { "$calls calls, $metrics" }
            assertTrue((0 until 100).all { scheduler.tasks(it).isEmpty() })
            // The scheduler sees the end of the last task before its scope does.
            withTimeout(2.minutes) { scope.coroutineContext.job.children.forEach { it.join() } }
            assertEquals(bound, scheduler.maxConcurrency)
        }

    @Test
    fun bound_isKeptWhileTasksAreCancelledAndMoved() =
        stress(Dispatchers.Default, TaskSchedulerConfig(capacity = 50), bound = 3) { delay(1.milliseconds) }

    @Test
    fun bound_isKeptWhileItChangesAndTheSchedulerIsPaused() {
        val config =
            TaskSchedulerConfig(
                maxWait = Priority.entries.associateWith { 100.microseconds },
                capacity = 20,
                onFull = OnFullQueue.DROP_LOWEST,
            )
        stress(Dispatchers.Default, config, bound = 8) {
            try {
                maxConcurrency = random.nextInt(1, 9)
                pause()
                delay(50.microseconds)
                resume()
                delay(500.microseconds)
            } finally {
                maxConcurrency = 8
            }
        }
    }

    @Test
    fun bound_isKeptOnAPriorityDispatcher() =
        stress(Dispatchers.Default.prioritized(2), TaskSchedulerConfig(), bound = 4) { delay(1.milliseconds) }

    @Test
    fun deadline_ofATaskThatAnotherThreadQueues_isKept() = runBlocking {
        val scheduler = TaskScheduler(CoroutineScope(Dispatchers.Default + Job()), 1)
        val keepsTheSlot = scheduler.schedule { awaitCancellation() }
        val other = launch(Dispatchers.Default) { while (isActive) scheduler.metrics }
        val tasks = List(MANY) { scheduler.schedule(deadline = 1.milliseconds) {} }
        withTimeout(2.minutes) { tasks.joinAll() }
        assertTrue(tasks.all { it.getCompletionExceptionOrNull() is TaskDeadlineException })
        other.cancelAndJoin()
        keepsTheSlot.cancelAndJoin()
    }

    @Test
    fun scope_tasksCancelledByKeyWhileBeingScheduled_ends() = runBlocking {
        repeat(20) {
            val scope = CoroutineScope(Dispatchers.Default + Job())
            val scheduler = TaskScheduler(scope, 2)
            val canceller = launch(Dispatchers.Default) { while (isActive) scheduler.cancel("key") }
            repeat(1_000) { scheduler.schedule(key = "key") {} }
            canceller.cancelAndJoin()
            scheduler.drain()
            withTimeout(2.minutes) { scope.coroutineContext.job.children.forEach { it.join() } }
        }
    }

    /** All tasks suspend for ever, so one that is not cancelled is seen. */
    @Test
    fun scope_cancelledWhileTasksAreScheduled_leavesNone() = runBlocking {
        repeat(200) { round ->
            val scope = CoroutineScope(Dispatchers.Default + Job())
            val scheduler = TaskScheduler(scope, 2)
            val tasks = ConcurrentLinkedQueue<ScheduledTask<*>>()
            val threads =
                List(3) {
                    launch(Dispatchers.Default) { repeat(50) { tasks += scheduler.schedule { awaitCancellation() } } }
                }
            while (tasks.size < 10) yield()
            scope.coroutineContext.cancelChildren()
            if (round % 2 == 0) scope.cancel()
            threads.joinAll()
            scope.coroutineContext.cancelChildren()
            withTimeout(2.minutes) {
                tasks.joinAll()
                scope.coroutineContext.job.children.forEach { it.join() }
            }
            assertTrue(tasks.size == 150 && tasks.all { it.isCancelled })
            assertEquals(0, scheduler.metrics.running + scheduler.metrics.queued)
            assertSumsFit(scheduler.metrics)
        }
    }

    private companion object {
        const val TASKS = 4_000
        const val MANY = 20_000
    }
}
