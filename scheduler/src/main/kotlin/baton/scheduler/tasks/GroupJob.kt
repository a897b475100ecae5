package baton.scheduler.tasks

import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.AbstractCoroutine
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
 * Invariants: (1) `tasks` is the number of tasks that have entered and have not left. From 0 it does not rise: the job
 * completes. (2) A group that was cancelled stays cancelled, and no task enters it. A task that entered before either
 * is found by [onCancelled], or finds the group cancelled after it was enqueued; see [TaskCore].
 */
@OptIn(InternalCoroutinesApi::class)
internal class GroupJob(scope: Job, private val onCancelled: (GroupJob) -> Unit) :
    AbstractCoroutine<Unit>(EmptyCoroutineContext, initParentJob = false, active = true) {
    private val tasks = AtomicInteger(1)

    init {
        // Last: this calls `onCancelling` if the scope is cancelled.
        initParentJob(scope)
    }

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
        if (cause != null) onCancelled(this)
    }
}
