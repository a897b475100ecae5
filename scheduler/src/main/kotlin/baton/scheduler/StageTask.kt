package baton.scheduler

import baton.Priority
import baton.waiting.InternalBatonApi
import java.util.concurrent.atomic.AtomicBoolean
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Job

/**
 * A task that is no coroutine, by which Baton's Java face has its calls stand in the scheduler's queue: from its turn
 * until [ended], or [withdraw], it has one of the places.
 */
@InternalBatonApi
public interface StageTask {
    /**
     * Whose task it is. Called without a lock; must not throw. Once the task is submitted it either begins or is
     * refused, unless it is withdrawn; one that is withdrawn when it has just been chosen is still told to begin.
     */
    public interface Owner {
        /** It has its place. */
        public fun begin()

        /** It has the place of [after], which ends on this thread: whether it begins by itself, without [begin]. */
        public fun begins(after: Owner): Boolean

        /** It never begins. */
        public fun refused(why: Throwable)

        /** The scheduler's scope has been cancelled; what has begun still has its place. */
        public fun cancelled(why: Throwable)
    }

    public fun submit()

    /** It shall not begin, and has not: leaves the queue, or gives back the place that it has got. */
    public fun withdraw()

    /** What it began has ended, or could not begin: its place is free. To say it again changes nothing. */
    public fun ended(failure: Throwable?)
}

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

    override fun begins(after: TaskEntry): Boolean = after is StageEntry && owner.begins(after.owner)

    override fun letIn() {}

    override fun refuse(end: TaskEnd) {
        leave(null)
        owner.refused(scheduler.refusal("a task of priority $own", end, deadline = null))
    }

    override fun withdraw() {
        // One that has been refused meanwhile leaves by itself.
        if (scheduler.core.withdraw(this) || place == Place.RUNNING) leave(WITHDRAWN)
    }

    override fun ended(failure: Throwable?) = leave(failure)

    private fun leave(failure: Throwable?) {
        life?.end()
        scheduler.core.ended(this, failure, isCancelled = failure is CancellationException)
    }

    /** Hears of the end of the scope, and has it wait for the task. */
    private class Life(private val group: Supervision.Group) {
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
