package baton

import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle
import java.lang.ref.WeakReference

/**
 * A level that can be changed while the work runs, for all coroutines with this controller in their context:
 * ```
 * val urgency = PriorityController(Priority.LOW)
 * launch(urgency) { prefetch() }
 * urgency.level = Priority.HIGH // the user opened that page
 * ```
 *
 * Every user of the level reads it anew each time. Blocks that a priority dispatcher has queued move to the new level
 * at once, behind the blocks that are queued there. A caller that already waits at a primitive of this library keeps
 * its position.
 *
 * May be used from any thread, and in any number of coroutines.
 */
public class PriorityController(initial: Priority) : PriorityElement {
    /**
     * An immutable list, replaced by compare-and-set, because followers are few; null for the many controllers without
     * one.
     */
    @Volatile private var followers: List<WeakReference<Follower>>? = null

    /**
     * The current level. A read after a write sees that write. A write moves the blocks that are queued in a priority
     * dispatcher; for that it scans the dispatcher's queues, once, and once more for every block that moves.
     */
    @Volatile
    override var level: Priority = initial
        set(value) {
            if (field == value) return
            field = value
            followers?.forEach { it.get()?.levelChanged(this) }
        }

    /**
     * Notifies [follower] of every later change. Refers to it weakly. A second call with the same follower changes
     * nothing.
     */
    @InternalBatonApi
    public fun follow(follower: Follower) {
        while (true) {
            val now = followers
            if (now != null && now.has(follower)) return
            val more = now.orEmpty().filter { it.get() != null } + WeakReference(follower)
            if (FOLLOWERS.compareAndSet(this, now, more)) return
        }
    }

    /** By index, without an iterator: this runs at each dispatch. */
    private fun List<WeakReference<Follower>>.has(follower: Follower): Boolean {
        for (i in indices) if (this[i].get() === follower) return true
        return false
    }

    /** Keeps work in the order of its level. */
    @InternalBatonApi
    public fun interface Follower {
        /** The level of [controller] has changed. Called on the thread that changed it; must not throw. */
        public fun levelChanged(controller: PriorityController)
    }

    override fun toString(): String = "PriorityController ($level)"

    private companion object {
        private val FOLLOWERS: VarHandle =
            MethodHandles.lookup().findVarHandle(PriorityController::class.java, "followers", List::class.java)
    }
}
