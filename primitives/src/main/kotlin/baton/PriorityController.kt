package baton

import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle
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
    /** Replaced by compare-and-set, never changed, as there are few; null before the first: most controllers have none. */
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
        while (true) {
            val now = followers
            if (now != null && now.has(follower)) return
            val more = now.orEmpty().filter { it.get() != null } + WeakReference(follower)
            if (FOLLOWERS.compareAndSet(this, now, more)) return
        }
    }

    /** By index: this is asked at each dispatch. */
    private fun List<WeakReference<Follower>>.has(follower: Follower): Boolean {
        for (i in indices) if (this[i].get() === follower) return true
        return false
    }

    /** Something that keeps work in order of its level. */
    public fun interface Follower {
        /** The level of [controller] is another now; called on the thread that changed it, and must not throw. */
        public fun levelChanged(controller: PriorityController)
    }

    override fun toString(): String = "PriorityController ($level)"

    private companion object {
        private val FOLLOWERS: VarHandle =
            MethodHandles.lookup().findVarHandle(PriorityController::class.java, "followers", List::class.java)
    }
}
