package baton.scheduler.bridge

import baton.InternalBatonApi
import baton.Priority
import java.time.Duration
import kotlinx.coroutines.DisposableHandle

/**
 * A task without a coroutine, by which Baton's Java API queues its calls in the scheduler. It occupies a slot from its
 * start until [ended] or [withdraw].
 */
@InternalBatonApi
public interface StageTask {
    /**
     * The owner of a task. The scheduler calls it without a lock; it must not throw. A submitted task either begins or
     * is refused, unless it is withdrawn. If it is withdrawn when the scheduler has just chosen it, [begin] is still
     * called.
     */
    public interface Owner {
        /** The task occupies its slot. */
        public fun begin()

        /** The task never begins. */
        public fun refused(cause: Throwable)

        /**
         * The task was cancelled by its key or with its scope. A task that has begun still occupies its slot. This may
         * be called during [submit], several times, and after the end, where it must have no effect.
         */
        public fun cancelled(cause: Throwable)

        /** Whether callers have the outcome of the task. Called under a lock, also by other threads. */
        public fun isDone(): Boolean
    }

    public val key: Any?

    /** As of `ScheduledTask`: setting it moves a queued task to the tail of its new level. */
    public var priority: Priority

    /** The task in messages: `ScheduledTask 'page' of TaskScheduler 'uplink'`. */
    public val label: String

    /** Whether it waits to begin, also before [submit]. */
    public val isQueued: Boolean

    /** @param deadline of its start, in messages; if it is not positive, the task begins now or is refused. */
    public fun submit(deadline: Duration? = null)

    /** Refuses the task if it is still queued after [millis] in the time of the scheduler. */
    public fun expireAfter(millis: Long): DisposableHandle

    /**
     * Runs [action], which calls [timeOut], after [millis] in the time of the scheduler. Called before [submit], or
     * before the work begins.
     */
    public fun limit(millis: Long, action: Runnable): DisposableHandle

    /**
     * The time [limit] of the task, which counts from the begin of its work if it [isOfRun], is over: the task has
     * failed with the returned exception, whatever becomes of its work, and counts so. One that waits is refused with
     * it. The slot of one that has begun is free after [ended], or [withdraw] if its work has not begun. Null, with no
     * effect, if the work has ended before.
     */
    public fun timeOut(limit: Duration, isOfRun: Boolean): Throwable?

    /** Whether [timeOut] has ended it. */
    public val hasTimedOut: Boolean

    /** Withdraws a task that has not begun: it leaves the queue, or frees the slot that it has just got. */
    public fun withdraw()

    /**
     * The work of the task has ended, or could not begin: frees its slot. Further calls have no effect. False if the
     * task has failed before by its timeout, which then suppresses [failure].
     */
    public fun ended(failure: Throwable?): Boolean

    /**
     * [Owner.isDone] has become true. A task that has [ended], was refused or withdrawn counts as unended until then,
     * for those that wait for the end of all tasks. To be called before the code of callers that may wait for that.
     */
    public fun completed()
}
