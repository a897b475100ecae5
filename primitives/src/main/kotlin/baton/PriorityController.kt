package baton

import java.util.concurrent.CopyOnWriteArraySet

/**
 * A level that can be changed while the work goes on, for all coroutines that have this controller in their context:
 *
 * ```
 * val urgency = PriorityController(Priority.LOW)
 * launch(urgency) { prefetch() }
 * urgency.level = Priority.HIGH // the user opened that page
 * ```
 *
 * Whoever asks for the level asks anew each time; what a priority dispatcher has queued moves to the new level at once,
 * behind what is queued there. Who waits already for a primitive of this library keeps the place it has.
 *
 * May be used from any thread, and in any number of coroutines.
 */
public class PriorityController(initial: Priority) : PriorityElement {
    private val followers = CopyOnWriteArraySet<Follower>()

    /**
     * The level now. Who reads it after a write sees that write. What is queued in a priority dispatcher moves at once;
     * that looks through its queues, once, and once more for every block that moves.
     */
    @Volatile
    override var level: Priority = initial
        set(value) {
            if (field == value) return
            field = value
            for (follower in followers) follower.levelChanged(this)
        }

    /** Has [follower] told of every change from now on. To add it again changes nothing. */
    public fun follow(follower: Follower) {
        if (follower !in followers) followers.add(follower)
    }

    /** Something that keeps work in order of its level. */
    public fun interface Follower {
        /** The level of [controller] is another now; called on the thread that changed it, and must not throw. */
        public fun levelChanged(controller: PriorityController)
    }

    override fun toString(): String = "PriorityController ($level)"
}
