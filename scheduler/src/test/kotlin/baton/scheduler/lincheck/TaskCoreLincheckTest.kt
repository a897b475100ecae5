package baton.scheduler.lincheck

import baton.Priority
import baton.asClock
import baton.lincheck.world.Effort
import baton.lincheck.world.Scenario
import baton.lincheck.world.after
import baton.lincheck.world.threads
import baton.scheduler.OnFullQueue
import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.dispatch.RunQueue
import baton.scheduler.tasks.TaskCore
import baton.scheduler.tasks.TaskEnd
import baton.scheduler.tasks.TaskEntry
import baton.scheduler.tasks.TaskEntry.Phase
import baton.sync.Latch
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicReferenceArray
import kotlin.time.TestTimeSource
import kotlinx.coroutines.CancellationException
import org.jetbrains.lincheck.datastructures.DSLThreadScenario
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.jetbrains.lincheck.datastructures.Validate

/**
 * Slots, queue and tasks that await capacity: several threads enqueue, end and withdraw tasks, and pause, resize and
 * close the scheduler. Only the tasks see the decisions of the operations, so Lincheck finds only the violations that
 * [allHaveTheirEnd] reports at the end of every interleaving.
 */
@Param(name = "task", gen = IntGen::class, conf = "0:2")
@Param(name = "level", gen = IntGen::class, conf = "0:1")
@Param(name = "slots", gen = IntGen::class, conf = "1:2")
open class TaskCoreLincheckTest : SchedulerLincheckCase {
    override val model: Class<*>
        get() = NoResultsOfTasks::class.java

    override val generated
        get() = 15

    /** Interleavings take little time compared with the start of a run. */
    override val factor
        get() = 3

    internal open val capacity
        get() = 1

    internal open val onFull
        get() = OnFullQueue.SUSPEND

    /** One slot, and a queue of one: the third task awaits capacity. */
    private val core =
        TaskCore(
            1,
            TaskSchedulerConfig(capacity = capacity, onFull = onFull, clock = TestTimeSource().asClock()),
            isAlive = { true },
        )
    private val enqueued = AtomicInteger()
    private val tasks = AtomicReferenceArray<Task>(MOST_TASKS)
    private val running = AtomicInteger()

    @Volatile private var violation: String? = null

    /** Of the last caller that waits for a moment without tasks. */
    @Volatile private var idle: Latch? = null

    /** The greatest bound so far; an operation may have lowered the bound since. */
    @Volatile private var mostSlots = 1

    private inner class Task(private val number: Int, val isNowOrNever: Boolean) :
        TaskEntry(if (isNowOrNever) Priority.HIGH else Priority.LOW) {
        val begun = AtomicInteger()
        val outcomes = AtomicInteger()
        private val endings = AtomicInteger()
        private val entries = AtomicInteger()

        /** The others get their outcome after their slot is free, as Java tasks do. */
        @Volatile private var hasOutcome = number % 2 == 0

        override val isOver
            get() = hasOutcome

        override val hasEnded
            get() = phase == Phase.ENDED

        override fun cancelFromOutside(cause: CancellationException?) = error("has no group and no key")

        override fun begin() {
            if (begun.incrementAndGet() > 1) violation = "task $number begins twice"
            if (running.incrementAndGet() > mostSlots) violation = "more than $mostSlots run"
            outcomes.incrementAndGet()
        }

        override fun admit() {
            if (entries.incrementAndGet() > 1) violation = "task $number is admitted twice"
        }

        override fun refuse(end: TaskEnd) {
            // All others are of one level when they come, and only a more urgent task displaces another.
            if (end == TaskEnd.SHED) violation = "task $number is displaced by one that never waits"
            endsUnbegun(TaskEndedEarly)
        }

        /** It has begun, and no operation has ended it. */
        val runs
            get() = begun.get() > 0 && endings.get() == 0

        /** Called once, by the thread that has taken the task out, as the completion of its job would be. */
        fun endsUnbegun(cause: Throwable?) {
            outcomes.incrementAndGet()
            core.recordEnd(this, cause, isCancelled = true)
            complete()
        }

        private fun complete() {
            hasOutcome = true
            core.completed(this)
        }

        /** May be called several times: another thread may see the end and record it first. */
        fun ends() {
            val isFirst = endings.getAndIncrement() == 0
            if (isFirst) running.decrementAndGet()
            core.recordEnd(this, null, isCancelled = false)
            complete()
        }
    }

    private object TaskEndedEarly : RuntimeException(null, null, false, false) {
        private fun readResolve(): Any = TaskEndedEarly
    }

    private fun task(number: Int): Task? = tasks[number]

    @Operation fun enqueue() = add(isNowOrNever = false)

    @Operation fun enqueueNow() = add(isNowOrNever = true)

    private fun add(isNowOrNever: Boolean) {
        val number = enqueued.getAndIncrement()
        val task = Task(number, isNowOrNever)
        tasks[number] = task
        core.enqueue(task, mayWait = true, isNowOrNever, core.clock.read())
        if (task.isTooLate && task.outcomes.get() == 0) violation = "task $number must be refused, and was not"
    }

    @Operation
    fun end(@Param(name = "task") number: Int) {
        task(number)?.takeIf { it.begun.get() > 0 }?.ends()
    }

    @Operation
    fun withdraw(@Param(name = "task") number: Int) {
        val task = task(number) ?: return
        if (core.withdraw(task)) task.endsUnbegun(TaskEndedEarly)
    }

    @Operation
    fun expire(@Param(name = "task") number: Int) {
        core.expire(task(number) ?: return)
    }

    @Operation
    fun prioritize(@Param(name = "task") number: Int, @Param(name = "level") level: Int) {
        // A task that comes with another level may displace others.
        core.prioritize(task(number)?.takeIf { it.phase != Phase.NEW } ?: return, RunQueue.LEVELS[level])
    }

    @Operation
    fun resize(@Param(name = "slots") slots: Int) {
        if (slots > mostSlots) mostSlots = slots
        core.resize(slots)
    }

    @Operation fun pause() = core.pause()

    @Operation fun resume() = core.resume()

    @Operation fun close() = core.close(null)

    @Operation
    fun clear() {
        core.clear()
    }

    @Operation
    fun awaitIdle() {
        core.idle()?.let { idle = it }
    }

    // Plain loops, because every object costs time under Lincheck.
    @Validate
    fun allHaveTheirEnd() {
        checkNow(enqueued.get() - 1)
        core.resume()
        // This task is last in the queue: a task that was left there by mistake starts before it.
        enqueue()
        val last = enqueued.get() - 1
        var number = 0
        while (number <= last) {
            // Its end starts other tasks, perhaps one with a lower number.
            val task = task(number)?.takeIf(Task::runs)
            task?.ends()
            number = if (task != null) 0 else number + 1
        }
        checkNow(last)
        core.drain()
        for (ended in 0..last) {
            val outcomes = task(ended)?.outcomes?.get()
            check(outcomes == 1) { "task $ended has $outcomes outcomes" }
        }
        check(core.allEnded.count == 0) { "drain does not end" }
        check(idle?.count != 1 && core.idle() == null) { "awaitIdle does not end" }
        checkNumbers()
    }

    private fun checkNow(last: Int) {
        check(violation == null) { "$violation" }
        var running = 0
        var queued = 0
        var awaiting = 0
        for (number in 0..last) {
            val task = task(number)
            val phase = task?.phase
            check(task?.isNowOrNever != true || phase == Phase.RUNNING || phase == Phase.ENDED) {
                "task $number waits, and must not"
            }
            when (phase) {
                Phase.RUNNING -> running++
                // All enqueue operations have returned: a NEW task is in the submission stack.
                Phase.NEW,
                Phase.QUEUED -> queued++
                Phase.AWAITING_CAPACITY -> awaiting++
                else -> {}
            }
        }
        val mayStart = !core.isPaused && running < core.maxConcurrency
        check(queued == 0 || !mayStart) { "a slot is free, and a task is queued" }
        check(awaiting == 0 || queued > 0) { "there is capacity, and a task awaits it" }
    }

    /** All have ended. */
    private fun checkNumbers() {
        val metrics = core.metrics()
        var scheduled = 0L
        var started = 0L
        var ended = 0L
        var refused = 0L
        var left = metrics.waiting
        for (priority in RunQueue.LEVELS) {
            val of = metrics[priority]
            left += of.queued + of.running
            scheduled += of.scheduled
            started += of.started
            ended += of.done + of.failed + of.cancelled
            refused += of.withdrawn + of.rejected + of.shed + of.expired + of.closed
        }
        val isAll = scheduled == enqueued.get().toLong() && left == 0
        check(isAll && started == ended && scheduled == started + refused) { "inconsistent metrics: $metrics" }
    }

    /** Of the tasks that are enqueued first, one runs, one is queued, and the others await capacity. */
    override val scenarios: List<Scenario>
        get() =
            listOf(
                after(0, { actor(::enqueue) }, { actor(::withdraw, 0) }),
                after(1, { actor(::end, 0) }, { actor(::end, 0) }),
                after(2, { actor(::end, 0) }, { actor(::prioritize, 1, 0) }),
                after(2, { actor(::end, 0) }, { actor(::close) }),
                after(2, { actor(::withdraw, 1) }, { actor(::expire, 1) }),
                after(3, { actor(::end, 0) }, { actor(::resize, 2) }),
                after(2, { actor(::end, 0) }, { actor(::enqueueNow) }),
                after(1, { actor(::end, 0) }, { actor(::enqueueNow) }),
                after(3, { actor(::end, 0) }, { actor(::clear) }),
                after(1, { actor(::end, 0) }, { actor(::awaitIdle) }),
            )

    protected fun after(tasks: Int, vararg acts: DSLThreadScenario.() -> Unit): Scenario =
        threads(*acts).after { repeat(tasks) { actor(::enqueue) } }

    private companion object {
        const val MOST_TASKS = 100
    }
}

/** The sequential specification: no operation returns a value. */
@Suppress("UNUSED_PARAMETER")
internal class NoResultsOfTasks {
    fun enqueue() = Unit

    fun enqueueNow() = Unit

    fun end(number: Int) = Unit

    fun withdraw(number: Int) = Unit

    fun expire(number: Int) = Unit

    fun prioritize(number: Int, level: Int) = Unit

    fun resize(slots: Int) = Unit

    fun pause() = Unit

    fun resume() = Unit

    fun close() = Unit

    fun clear() = Unit

    fun awaitIdle() = Unit
}

/** As the other, where a more urgent task displaces a queued one. */
class SheddingTaskCoreLincheckTest : TaskCoreLincheckTest() {
    override val onFull
        get() = OnFullQueue.DROP_LOWEST
}

class TaskCoreLincheckDeepTest : TaskCoreLincheckTest() {
    override val effort
        get() = Effort.DEEP

    override val scenarios: List<Scenario>
        get() =
            super.scenarios +
                listOf(
                    after(3, { actor(::end, 0) }, { actor(::close) }),
                    after(3, { actor(::end, 0) }, { actor(::withdraw, 1) }, { actor(::expire, 1) }),
                )
}
