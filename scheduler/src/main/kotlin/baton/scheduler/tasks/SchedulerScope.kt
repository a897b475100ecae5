package baton.scheduler.tasks

import java.util.concurrent.atomic.AtomicReference
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job

/**
 * The scope of a scheduler, and the [GroupJob] that stands for its tasks there. The group exists only while there are
 * tasks: so the scope waits for tasks, but not for an idle scheduler that was not closed. A task that fails does not
 * fail its group, and so does not fail the scope.
 *
 * It is also the scope in whose context tasks are made: without a job, because each has its own.
 */
internal class SchedulerScope(parent: CoroutineScope, private val onCancelled: (GroupJob) -> Unit) : CoroutineScope {
    override val coroutineContext: CoroutineContext = parent.coroutineContext.minusKey(Job)

    private val scope: Job? = parent.coroutineContext[Job]
    private val group = AtomicReference<GroupJob?>()

    /** Whether the scope is not being cancelled. */
    val isActive: Boolean
        get() = scope == null || scope.isActive

    init {
        // A lazy job that was not started is not active either.
        scope?.start()
    }

    /**
     * Adds one task and returns its group, which the task must leave once. Null if the scope has no job: then nothing
     * waits for the task or cancels it. The group of a scope that is being cancelled is cancelled.
     */
    fun enter(): GroupJob? {
        if (scope == null) return null
        while (true) {
            val now = group.get()
            if (now != null && now.enter()) return now
            val next = GroupJob(coroutineContext, scope, onCancelled)
            if (group.compareAndSet(now, next)) return next
            next.leave()
        }
    }
}
