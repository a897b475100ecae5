package baton.scheduler.bridge

import baton.Priority
import baton.scheduler.TaskScheduler
import baton.scheduler.tasks.KeyIndex
import baton.scheduler.tasks.KeyedTask
import baton.scheduler.tasks.SharedSupervisor
import baton.scheduler.tasks.TaskEnd
import baton.scheduler.tasks.TaskEntry
import baton.scheduler.tasks.labelOf
import java.time.Duration
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Job

/** A [StageTask] and the state that the scheduler's core keeps for it. */
internal class StageEntry(
    private val scheduler: TaskScheduler,
    priority: Priority,
    override val key: Any?,
    private val owner: StageTask.Owner,
) : TaskEntry(priority), StageTask, KeyedTask {
    /** Null if there is no scope that could be cancelled. Written before this is enqueued. */
    private var scopeChild: ScopeChild? = null

    /** Set when it has passed. */
    private var deadline: Duration? = null

    override val label: String
        get() = "${labelOf(key)} of ${scheduler.label}"

    override fun toString(): String = "${labelOf(key)} of priority $basePriority of $scheduler"

    override var keyEntry: KeyIndex.Entry? = null

    override val shownKey: Any?
        get() = key

    override val hasEnded: Boolean
        get() = phase == Phase.ENDED

    override fun cancelByKey(cause: CancellationException?) =
        owner.cancelled(cause ?: CancellationException("$label was cancelled"))

    override fun submit() {
        val supervisor = scheduler.supervisor
        val scopeChild = if (supervisor.hasScope) ScopeChild(supervisor.enter()) else null
        this.scopeChild = scopeChild
        try {
            // From here on other threads may find the task by its key and cancel it.
            if (key != null) scheduler.keys.add(key, this)
        } catch (e: Throwable) {
            scopeChild?.end()
            throw e
        }
        scheduler.core.enqueue(this, mayWait = false)
        scopeChild?.job?.invokeOnCompletion { cause -> if (cause != null) owner.cancelled(cause) }
    }

    override var priority: Priority
        get() = basePriority
        set(value) = scheduler.core.prioritize(this, value)

    override val isQueued: Boolean
        get() = isNotStarted

    override fun expire(deadline: Duration) {
        this.deadline = deadline
        scheduler.core.expire(this)
    }

    override fun begin() = owner.begin()

    override fun admit() {}

    override fun refuse(end: TaskEnd) {
        leave(null)
        owner.refused(scheduler.refusal("${labelOf(key)} of priority $basePriority", end, deadline?.toKotlinDuration()))
    }

    override fun withdraw() {
        // If the core has refused this task meanwhile, `refuse` reports its end.
        // If there is a scope, it must stop waiting for this task before other threads can see that the task has ended.
        val isKnown = scopeChild == null
        val isWithdrawn = scheduler.core.withdraw(this, isKnown)
        if (isWithdrawn && isKnown) return leaveKey()
        if (isWithdrawn || phase == Phase.RUNNING) leave(WITHDRAWN)
    }

    override fun ended(failure: Throwable?) = leave(failure)

    private fun leaveKey() {
        keyEntry?.let { scheduler.keys.remove(it, this) }
    }

    private fun leave(failure: Throwable?) {
        leaveKey()
        scopeChild?.end()
        scheduler.core.recordEnd(this, failure, isCancelled = failure is CancellationException)
    }

    /** A job that is cancelled with the scope, and for which the scope waits until the task has ended. */
    private class ScopeChild(private val group: SharedSupervisor.Group) {
        val job = Job(group.job)
        private val isOver = AtomicBoolean()

        fun end() {
            if (!isOver.compareAndSet(false, true)) return
            job.complete()
            group.leave()
        }
    }

    private companion object {
        /** Never thrown: passed to the core as the failure of a withdrawn task. */
        val WITHDRAWN = CancellationException("withdrawn before it began")
    }
}
