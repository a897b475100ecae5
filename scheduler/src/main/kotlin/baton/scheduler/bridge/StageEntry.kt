package baton.scheduler.bridge

import baton.Priority
import baton.scheduler.TaskScheduler
import baton.scheduler.tasks.TaskEnd
import baton.scheduler.tasks.TaskEntry
import baton.scheduler.tasks.add
import baton.scheduler.tasks.labelOf
import java.time.Duration
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.CancellationException

/** A [StageTask] and the state that the scheduler's core keeps for it. */
internal class StageEntry(
    private val scheduler: TaskScheduler,
    priority: Priority,
    override val key: Any?,
    private val owner: StageTask.Owner,
) : TaskEntry(priority), StageTask {
    private var deadline: Duration? = null

    override val label: String
        get() = "${labelOf(key)} of ${scheduler.label}"

    override fun toString(): String = "${labelOf(key)} of priority $basePriority of $scheduler"

    override val shownKey: Any?
        get() = key

    override val hasEnded: Boolean
        get() = phase == Phase.ENDED

    override fun cancelFromOutside(cause: CancellationException?) =
        owner.cancelled(cause ?: CancellationException("$label was cancelled"))

    override fun submit(deadline: Duration?) {
        this.deadline = deadline
        val isNowOrNever = deadline != null && (deadline.isZero || deadline.isNegative)
        scheduler.add(this, mayWait = false, isNowOrNever)
    }

    override var priority: Priority
        get() = basePriority
        set(value) = scheduler.core.prioritize(this, value)

    override val isQueued: Boolean
        get() = isNotStarted

    override fun expireAfter(millis: Long) = scheduler.core.clock.schedule(millis) { scheduler.core.expire(this) }

    override fun after(millis: Long, action: Runnable) = scheduler.core.clock.schedule(millis, action)

    override fun begin() = owner.begin()

    override fun admit() {}

    override fun refuse(end: TaskEnd) {
        leave(null)
        owner.refused(scheduler.refusal("${labelOf(key)} of priority $basePriority", end, deadline?.toKotlinDuration()))
    }

    override fun withdraw() {
        // If the core has refused this task meanwhile, `refuse` reports its end.
        // If there is a scope, it must stop waiting for this task before other threads can see that the task has ended.
        val isKnown = group == null
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
        leaveGroup()
        scheduler.core.recordEnd(this, failure, isCancelled = failure is CancellationException)
    }

    private companion object {
        /** Never thrown: passed to the core as the failure of a withdrawn task. */
        val WITHDRAWN = CancellationException("withdrawn before it began")
    }
}
