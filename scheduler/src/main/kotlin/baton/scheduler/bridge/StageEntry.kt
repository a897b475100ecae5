package baton.scheduler.bridge

import baton.Priority
import baton.scheduler.TaskScheduler
import baton.scheduler.tasks.TaskEnd
import baton.scheduler.tasks.TaskEntry
import baton.scheduler.tasks.add
import baton.scheduler.tasks.isFailure
import baton.scheduler.tasks.labelOf
import baton.scheduler.tasks.refusal
import baton.scheduler.tasks.report
import baton.scheduler.tasks.timeoutOf
import baton.waiting.threads.Trampoline
import java.time.Duration
import java.util.concurrent.atomic.AtomicReference
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.DisposableHandle

/** A [StageTask] and the state that the scheduler's core keeps for it. */
internal class StageEntry(
    private val scheduler: TaskScheduler,
    priority: Priority,
    override val key: Any?,
    private val owner: StageTask.Owner,
) : TaskEntry(priority), StageTask {
    private var deadline: Duration? = null

    /** How a task with a timeout has ended: by the failure of that, or by itself, which is [OWN_END]. Else null. */
    private var end: AtomicReference<Throwable?>? = null

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

    override fun limit(millis: Long, action: Runnable): DisposableHandle {
        end = end ?: AtomicReference()
        return scheduler.core.clock.schedule(millis, action)
    }

    override fun timeOut(limit: Duration, isOfRun: Boolean): Throwable? {
        val failure = scheduler.timeoutOf(this, limit.toKotlinDuration(), isOfRun)
        if (end?.compareAndSet(null, failure) != true) return null
        // The caller completes the task in any case.
        Trampoline.guarded { scheduler.core.expire(this) }
        return failure
    }

    override val hasTimedOut: Boolean
        get() = timeoutOf(end?.get()) != null

    /** Ends by itself. Returns the failure of the timeout, if that has ended this before. */
    private fun endByItself(): Throwable? {
        val end = end ?: return null
        return if (end.compareAndSet(null, OWN_END)) null else timeoutOf(end.get())
    }

    private fun timeoutOf(end: Throwable?): Throwable? = end.takeIf { it !== OWN_END }

    override fun begin() = owner.begin()

    override fun admit() {}

    override fun refuse(end: TaskEnd) {
        leave(null)
        val late = if (end == TaskEnd.EXPIRED) endByItself() else null
        val failure = late ?: scheduler.refusal(this, end, deadline?.toKotlinDuration())
        if (isFailure(failure)) report(scheduler.config.onFailure, key, failure)
        owner.refused(failure)
    }

    override fun withdraw() {
        // If the core has refused this task meanwhile, `refuse` reports its end.
        // If there is a scope, it must stop waiting for this task before other threads can see that the task has ended.
        val isKnown = group == null
        val isWithdrawn = scheduler.core.withdraw(this, isKnown)
        if (isWithdrawn && isKnown) return leaveKey()
        if (isWithdrawn || phase == Phase.RUNNING) leave(endByItself() ?: WITHDRAWN)
    }

    override fun ended(failure: Throwable?): Boolean {
        val late = endByItself()
        if (late != null && failure != null && failure !is CancellationException) late.addSuppressed(failure)
        leave(late ?: failure)
        return late == null
    }

    override fun completed() = scheduler.core.completed(this)

    override val isOver: Boolean
        get() = owner.isDone()

    private fun leaveKey() {
        keyEntry?.let { scheduler.keys.remove(it, this) }
    }

    private fun leave(failure: Throwable?) {
        leaveKey()
        leaveGroup()
        val isFirst = scheduler.core.recordEnd(this, failure, isCancelled = failure is CancellationException)
        if (isFirst && failure != null && isFailure(failure)) report(scheduler.config.onFailure, key, failure)
    }

    private companion object {
        /** Never thrown: passed to the core as the failure of a withdrawn task. */
        val WITHDRAWN = CancellationException("withdrawn before it began")

        /** Never thrown. */
        val OWN_END = Throwable("ended by itself", null)
    }
}
