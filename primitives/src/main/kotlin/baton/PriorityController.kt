package baton

import java.lang.ref.WeakReference

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
    /** Replaced, never changed, as there are few: under this. Null before the first, for most controllers have none. */
    @Volatile
    private var followers: List<WeakReference<Follower>>? = null

    /**
     * The level now. Who reads it after a write sees that write. What is queued in a priority dispatcher moves at once;
     * that looks through its queues, once, and once more for every block that moves.
     */
    @Volatile
    override var level: Priority = initial
        set(value) {
            if (field == value) return
            field = value
            followers?.forEach { it.get()?.levelChanged(this) }
        }

    /** Has [follower] told of every change from now on, without keeping it alive. To add it again changes nothing. */
    public fun follow(follower: Follower) {
        if (isFollowedBy(follower)) return
        synchronized(this) {
            if (isFollowedBy(follower)) return
            followers = followers.orEmpty().filter { it.get() != null } + WeakReference(follower)
        }
    }

    private fun isFollowedBy(follower: Follower): Boolean {
        val followers = followers ?: return false
        // By index: this is asked at each dispatch.
        for (i in followers.indices) if (followers[i].get() === follower) return true
        return false
    }

    /** Something that keeps work in order of its level. */
    public fun interface Follower {
        /** The level of [controller] is another now; called on the thread that changed it, and must not throw. */
        public fun levelChanged(controller: PriorityController)
    }

    override fun toString(): String = "PriorityController ($level)"
}
