package baton.scheduler.lincheck

import baton.Priority
import baton.lincheck.world.Effort
import baton.lincheck.world.Scenario
import baton.lincheck.world.after
import baton.lincheck.world.threads
import baton.scheduler.TaskScheduler
import baton.scheduler.tasks.TaskEnd
import baton.scheduler.tasks.TaskEntry
import baton.scheduler.tasks.add
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicReferenceArray
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.cancelChildren
import org.jetbrains.lincheck.datastructures.DSLThreadScenario
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.jetbrains.lincheck.datastructures.Validate

/**
 * The scope of a scheduler and its tasks: several threads schedule and end tasks, and cancel the scope or what is in
 * it. No operation returns a value; [scopeHasAllTasks] reports violations at the end of every interleaving.
 */
@Param(name = "task", gen = IntGen::class, conf = "0:2")
open class TaskScopeLincheckTest : SchedulerLincheckCase {
    override val model: Class<*>
        get() = NoResultsOfScope::class.java

    override val generated
        get() = 10

    /** Interleavings take little time compared with the start of a run. */
    override val factor
        get() = 3

    private val scope = Job()
    private val scheduler = TaskScheduler(CoroutineScope(scope), 1)
    private val scheduled = AtomicInteger()
    private val tasks = AtomicReferenceArray<Task>(MOST_TASKS)

    /** How many cancels have begun and not returned. */
    private val cancelling = AtomicInteger()

    /** Whether a task began active in a group whose cancel had returned. */
    @Volatile private var beganTooLate = false

    /** A task that ends at once when it is cancelled, as one that is suspended does. */
    private inner class Task : TaskEntry(Priority.LOW) {
        private val begun = AtomicInteger()
        private val ends = AtomicInteger()

        override val hasEnded
            get() = ends.get() > 0

        val runs
            get() = begun.get() > 0 && !hasEnded

        override fun cancelFromOutside(cause: CancellationException?) {
            scheduler.core.withdraw(this)
            end(cause)
        }

        /** Runs on the thread that schedules it, whose look after that would come too late for its code. */
        override fun begin() {
            if (group?.isCancelled == true && cancelling.get() == 0 && !hasEnded) beganTooLate = true
            begun.incrementAndGet()
        }

        override fun admit() = Unit

        override fun refuse(end: TaskEnd) = end(null)

        fun end(cause: Throwable?) {
            if (!ends.compareAndSet(0, 1)) return
            scheduler.core.recordEnd(this, cause, isCancelled = cause != null)
            leaveGroup()
        }
    }

    @Operation
    fun schedule() {
        val task = Task()
        tasks[scheduled.getAndIncrement()] = task
        scheduler.add(task, mayWait = false, isNowOrNever = false)
    }

    @Operation
    fun end(@Param(name = "task") number: Int) {
        tasks[number]?.takeIf(Task::runs)?.end(null)
    }

    @Operation
    fun cancelChildren() {
        cancelling.incrementAndGet()
        scope.cancelChildren()
        cancelling.decrementAndGet()
    }

    @Operation
    fun cancelScope() {
        cancelling.incrementAndGet()
        scope.cancel()
        cancelling.decrementAndGet()
    }

    // Plain loops, because every object costs time under Lincheck.
    @Validate
    fun scopeHasAllTasks() {
        check(!beganTooLate) { "a task began after its group was cancelled" }
        val last = scheduled.get() - 1
        var unended = 0
        for (number in 0..last) {
            val task = checkNotNull(tasks[number])
            if (task.hasEnded) {
                check(task.group == null) { "task $number has ended and is in a group" }
            } else {
                unended++
                val group = checkNotNull(task.group) { "task $number left before its end" }
                check(!group.isCancelled) { "the group of task $number was cancelled, and the task was not" }
                check(!group.isCompleted) { "the scope does not wait for task $number" }
            }
        }
        check((unended == 0) == scope.children.none()) { "$unended tasks, in the scope ${scope.children.count()}" }
        check(!scope.isCancelled || unended == 0) { "the scope was cancelled, and $unended tasks were not" }
        scope.cancel()
        check(scope.isCompleted) { "the scope waits for no task" }
        val metrics = scheduler.metrics
        check(metrics.running + metrics.queued == 0) { "$metrics" }
    }

    /** Of the tasks that are scheduled first, one runs, and the others are queued. */
    override val scenarios: List<Scenario>
        get() =
            listOf(
                after(0, { actor(::schedule) }, { actor(::cancelChildren) }),
                after(0, { actor(::schedule) }, { actor(::cancelScope) }),
                after(1, { actor(::schedule) }, { actor(::cancelChildren) }),
                after(1, { actor(::schedule) }, { actor(::end, 0) }),
                after(2, { actor(::end, 0) }, { actor(::cancelScope) }),
            )

    protected fun after(tasks: Int, vararg acts: DSLThreadScenario.() -> Unit): Scenario =
        threads(*acts).after { repeat(tasks) { actor(::schedule) } }

    private companion object {
        const val MOST_TASKS = 100
    }
}

/** The sequential specification: no operation returns a value. */
@Suppress("UNUSED_PARAMETER")
internal class NoResultsOfScope {
    fun schedule() = Unit

    fun end(number: Int) = Unit

    fun cancelChildren() = Unit

    fun cancelScope() = Unit
}

class TaskScopeLincheckDeepTest : TaskScopeLincheckTest() {
    override val effort
        get() = Effort.DEEP

    override val scenarios: List<Scenario>
        get() =
            super.scenarios +
                listOf(
                    after(0, { actor(::schedule) }, { actor(::schedule) }, { actor(::cancelChildren) }),
                    after(1, { actor(::schedule) }, { actor(::end, 0) }, { actor(::cancelScope) }),
                    after(
                        1,
                        { actor(::cancelChildren) },
                        {
                            actor(::schedule)
                            actor(::schedule)
                        },
                    ),
                )
}
