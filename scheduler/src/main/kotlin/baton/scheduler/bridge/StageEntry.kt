package baton.scheduler.bridge

import baton.Priority
import baton.scheduler.TaskScheduler
import baton.scheduler.tasks.SharedSupervisor
import baton.scheduler.tasks.TaskEnd
import baton.scheduler.tasks.TaskEntry
import java.util.concurrent.atomic.AtomicBoolean
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Job

/** A [StageTask] and what the scheduler's core knows of it. */
internal class StageEntry(
    private val scheduler: TaskScheduler,
    priority: Priority,
    private val owner: StageTask.Owner,
) : TaskEntry(priority),
    StageTask {
    /** Null where there is no scope to be cancelled. Written before this is enqueued. */
    private var life: Life? = null

    override fun submit() {
        val supervision = scheduler.supervision
        val life = if (supervision.hasScope) Life(supervision.enter()) else null
        this.life = life
        scheduler.core.enqueue(this, mayWait = false)
        life?.job?.invokeOnCompletion { why -> if (why != null) owner.cancelled(why) }
    }

    override fun begin() = owner.begin()

    override fun letIn() {}

    override fun refuse(end: TaskEnd) {
        leave(null)
        owner.refused(scheduler.refusal("a task of priority $own", end, deadline = null))
    }

    override fun withdraw() {
        // One that has been refused meanwhile leaves by itself.
        // Where there is a scope, it must not wait for this any more when the core lets others know that this has ended.
        val isKnown = life == null
        val isWithdrawn = scheduler.core.withdraw(this, isKnown)
        if (isWithdrawn && isKnown) return
        if (isWithdrawn || place == Place.RUNNING) leave(WITHDRAWN)
    }

    override fun ended(failure: Throwable?) = leave(failure)

    private fun leave(failure: Throwable?) {
        life?.end()
        scheduler.core.ended(this, failure, isCancelled = failure is CancellationException)
    }

    /** Hears of the end of the scope, and has it wait for the task. */
    private class Life(private val group: SharedSupervisor.Group) {
        val job = Job(group.job)
        private val isOver = AtomicBoolean()

        fun end() {
            if (!isOver.compareAndSet(false, true)) return
            job.complete()
            group.leave()
        }
    }

    private companion object {
        /** Never thrown: tells the core how a task ended. */
        val WITHDRAWN = CancellationException("withdrawn before it began")
    }
}
