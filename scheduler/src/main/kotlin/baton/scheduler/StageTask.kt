package baton.scheduler

import baton.Priority
import baton.waiting.InternalBatonApi
import kotlinx.coroutines.Job

/**
 * A task that is no coroutine, by which Baton's Java face has its stages stand in the scheduler's queue: from its turn
 * until [end] it has one of the places. Either [begin] or [refused] is called, once, after [submit] and without a lock;
 * neither if [withdraw] was in time.
 */
@InternalBatonApi
public abstract class StageTask(private val scheduler: TaskScheduler, priority: Priority) {
    private val core = scheduler.core

    private val entry =
        object : TaskEntry(priority) {
            override fun begin() = this@StageTask.begin()

            override fun letIn() {}

            override fun refuse(end: TaskEnd) {
                ended(null, isCancelled = false)
                refused(scheduler.refusal("a task of priority $own", end, deadline = null))
            }
        }

    /** Hears of the end of the scope. */
    private val group = scheduler.supervision.enter()
    private val life = Job(group.job)

    /** It has its place; [end] must follow. */
    protected abstract fun begin()

    /** It never begins. */
    protected abstract fun refused(why: Throwable)

    /** The scheduler's scope has been cancelled; what has begun still has its place. */
    protected abstract fun cancelled(why: Throwable)

    public fun submit() {
        core.enqueue(entry, mayWait = false)
        life.invokeOnCompletion { why -> if (why != null) cancelled(why) }
    }

    /** Takes it out of the queue; false if it has left it. */
    public fun withdraw(): Boolean {
        if (!core.withdraw(entry)) return false
        ended(null, isCancelled = true)
        return true
    }

    /** What it began has ended: its place is free. */
    public fun end(failure: Throwable?, isCancelled: Boolean): Unit = ended(failure, isCancelled)

    private fun ended(failure: Throwable?, isCancelled: Boolean) {
        life.complete()
        group.leave()
        core.ended(entry, failure, isCancelled, isVisible = true)
    }
}
