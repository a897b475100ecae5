package baton.scheduler.tasks

import baton.Priority
import baton.scheduler.ScheduledTask
import baton.scheduler.SchedulerClosedException
import baton.scheduler.TaskDeadlineException
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskSchedulerConfig
import baton.sync.CancelSweep
import baton.sync.StepDispatcher
import baton.sync.SweepRun
import baton.sync.SweptCall
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Cancels one of two calls before every single step of the two calls and of the scheduler's tasks. Afterwards every
 * task has ended once, no other task was cancelled, and all slots are free.
 */
class TaskSweepTest {
    /** Records the calls of one task's block. */
    private class Work {
        var calls = 0
        var isInside = false
    }

    /** One slot, a queue of [capacity], and [filled] tasks scheduled before. */
    private class World(dispatcher: StepDispatcher, capacity: Int, filled: Int) {
        private val job = Job()
        private val gate = CompletableDeferred<Unit>()
        private val works = ArrayList<Work>()
        private var running = 0
        private var most = 0

        /** Tasks of other callers, which must not be cancelled. */
        private val tasks = ArrayList<ScheduledTask<*>>()
        val scheduler =
            TaskScheduler(CoroutineScope(dispatcher + job), 1, "sweep", TaskSchedulerConfig(capacity = capacity))

        init {
            repeat(filled) {
                val work = newWork()
                tasks +=
                    scheduler.schedule(Priority.LOW) {
                        gate.await()
                        work(work)
                    }
            }
        }

        val last: ScheduledTask<*>?
            get() = tasks.lastOrNull()

        fun newWork() = Work().also { works += it }

        fun openGate() = gate.complete(Unit)

        suspend fun work(work: Work) {
            work.calls++
            work.isInside = true
            most = maxOf(most, ++running)
            try {
                yield()
            } finally {
                withContext(NonCancellable) { yield() }
                running--
                work.isInside = false
            }
        }

        suspend fun submit(deadline: Duration? = null): ScheduledTask<Unit> {
            val work = newWork()
            try {
                return scheduler.submit(key = work, deadline = deadline) { work(work) }.also { tasks += it }
            } catch (e: CancellationException) {
                assertTrue(scheduler.tasks(work).all { it.isCancelled }, "submit has left its task behind")
                throw e
            }
        }

        suspend fun run() {
            val work = newWork()
            try {
                scheduler.run(key = work) { work(work) }
                assertEquals(1, work.calls)
            } finally {
                assertTrue(scheduler.tasks(work).isEmpty(), "run has returned before its task has ended")
            }
        }

        fun check() {
            assertTrue(most <= scheduler.maxConcurrency) { "$most at a time" }
            for (work in works) assertTrue(work.calls <= 1 && !work.isInside)
            for (task in tasks) {
                assertTrue(task.isCompleted)
                assertTrue(task.getCompletionExceptionOrNull() !is CancellationException, "cancelled by another call")
            }
            val metrics = scheduler.metrics
            assertEquals(0, metrics.running + metrics.queued + metrics.waiting)
            assertSumsFit(metrics)
            assertTrue(job.children.none(), "the scope has a child left")
        }

        override fun toString() = "$scheduler"
    }

    private class Op(val name: String, val call: suspend World.() -> Unit) {
        override fun toString() = name
    }

    private val ops =
        listOf(
            Op("submit(1s)") { submit(1.seconds) },
            Op("submit, await") { submit().await() },
            Op("run") { run() },
            Op("await") { last?.await() },
            Op("join") { last?.join() },
            Op("drain") { scheduler.drain() },
            Op("close") { scheduler.close() },
            Op("resize(2)") { scheduler.maxConcurrency = 2 },
            Op("pause, resume") {
                scheduler.pause()
                try {
                    yield()
                } finally {
                    scheduler.resume()
                }
            },
        )

    private inner class TaskSweep(private val capacity: Int, private val filled: Int) : CancelSweep<World, Op>(ops) {
        override val start = "capacity $capacity, $filled filled"

        override fun create(dispatcher: StepDispatcher) = World(dispatcher, capacity, filled)

        override suspend fun call(op: Op, world: World, caller: String): Int {
            op.call(world)
            return 0
        }

        override fun SweepRun<World>.beside() = turn { world.openGate() }

        override fun SweepRun<World>.end(first: SweptCall, second: SweptCall) {
            for (call in listOf(first, second)) {
                assertTrue(call.isCompleted, "a call waits for ever")
                call.throwUnless { it is SchedulerClosedException || it is TaskDeadlineException }
            }
            world.check()
            if (world.scheduler.isClosed) return
            val last = world.scheduler.schedule {}
            drain()
            assertTrue(last.isCompleted, "a slot is missing")
            world.check()
        }
    }

    @Test
    fun cancelledAtAnyStep_leavesNothingBehind() {
        val plans = listOf(0 to 0, 0 to 1, 1 to 1, 1 to 2)
        val runs = plans.sumOf { (capacity, filled) -> TaskSweep(capacity, filled).run() }
        assertTrue(runs > 15_000, "only $runs runs")
    }
}
