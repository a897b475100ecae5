package baton.scheduler.tasks

import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicReference
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob

/**
 * The parent job of a scheduler's tasks, itself a child of the scope's. It exists only while there are tasks: so the
 * scope waits for tasks, but not for an idle scheduler that was not closed. A task that fails does not fail this job,
 * and so does not fail the scope.
 *
 * It is also the scope in whose context tasks are made: without a job, because each has its own.
 */
internal class SharedSupervisor(parent: CoroutineScope) : CoroutineScope {
    override val coroutineContext: CoroutineContext = parent.coroutineContext.minusKey(Job)

    private val scope: Job? = parent.coroutineContext[Job]

    /**
     * One supervisor job, shared by tasks as long as at least one of them has not ended. When the last one leaves, the
     * job completes and no further task can enter.
     */
    inner class Group {
        val job = SupervisorJob(scope)
        private val tasks = AtomicInteger(1)

        /** Adds one task. Returns false if the job has completed or was cancelled with the scope. */
        fun enter(): Boolean {
            while (job.isActive) {
                val now = tasks.get()
                if (now == 0) return false
                if (tasks.compareAndSet(now, now + 1)) return true
            }
            return false
        }

        /** A task has ended. */
        fun leave() {
            if (tasks.decrementAndGet() == 0) job.complete()
        }
    }

    private val group = AtomicReference<Group?>()

    /** Whether there is a scope, whose cancellation cancels the tasks. */
    val hasScope: Boolean
        get() = scope != null

    /** Whether the scope is not being cancelled. */
    val isActive: Boolean
        get() = scope == null || scope.isActive

    init {
        // A lazy job that was not started is not active either.
        scope?.start()
    }

    /**
     * Adds one task and returns its group, whose job is the parent of the task's. The task must leave the group once.
     */
    fun enter(): Group {
        while (true) {
            val now = group.get()
            if (now != null && now.enter()) return now
            val next = Group()
            if (group.compareAndSet(now, next)) return next
            next.leave()
        }
    }
}
