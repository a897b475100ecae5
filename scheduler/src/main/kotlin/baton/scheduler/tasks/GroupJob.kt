package baton.scheduler.tasks

import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.AbstractCoroutine
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.Job

/**
 * The job of all tasks that a scheduler has until none is left, a child of the [scope]. It stands for the tasks in the
 * scope: it completes when the last task leaves, and when it is cancelled, [onCancelled] cancels the tasks. So a task's
 * own job need not be in a list of children, to which threads that schedule tasks would add while others remove.
 *
 * `AbstractCoroutine` is an internal API of kotlinx.coroutines; see [TaskJob]. A `Job()` would complete as soon as it
 * is cancelled, before the tasks have ended.
 *
 * Invariants:
 * - `tasks` is the number of tasks that have entered and have not left. From 0 it does not rise: the job completes.
 * - A cancelled group stays cancelled, and a thread that sees it so does not enter. A task that enters meanwhile is
 *   found by [onCancelled], or its thread finds the group cancelled after it was enqueued; see [TaskCore].
 */
@OptIn(InternalCoroutinesApi::class)
internal class GroupJob(context: CoroutineContext, scope: Job, private val onCancelled: (GroupJob) -> Unit) :
    AbstractCoroutine<Unit>(context, initParentJob = false, active = true) {
    private val tasks = AtomicInteger(1)

    /** False while no task can be in it but the first one, whose thread looks at [cancellation] itself. */
    @Volatile private var mayHaveTasks = false

    init {
        // Calls `onCancelling` if the scope is cancelled.
        initParentJob(scope)
        mayHaveTasks = true
    }

    /** Null unless it is cancelled. */
    val cancellation: CancellationException?
        get() = if (isCancelled) getCancellationException() else null

    /** Adds one task. Returns false if the last task has left or the group was cancelled. */
    fun enter(): Boolean {
        while (isActive) {
            val now = tasks.get()
            if (now == 0) return false
            if (tasks.compareAndSet(now, now + 1)) return true
        }
        return false
    }

    /** A task has ended. */
    fun leave() {
        if (tasks.decrementAndGet() == 0) resumeWith(Result.success(Unit))
    }

    override fun onCancelling(cause: Throwable?) {
        if (cause != null && mayHaveTasks) onCancelled(this)
    }

    override fun cancellationExceptionMessage(): String = "The tasks in the scope of a TaskScheduler were cancelled"

    /** As a `SupervisorJob`: code that launches a coroutine in it and fails cancels no tasks. */
    override fun childCancelled(cause: Throwable): Boolean = false
}
