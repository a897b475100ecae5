package baton.scheduler.bridge

import baton.waiting.InternalBatonApi

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
