package baton.waiting

/**
 * The order in which waiters are served. Guarded by the lock of its core; every operation is O(1).
 *
 * [head] is served next and blocks all others: no waiter overtakes a head that asks for more than is free.
 */
internal abstract class WaitQueue {
    var size: Int = 0
        protected set

    abstract fun add(waiter: Waiter)

    abstract fun remove(waiter: Waiter)

    /** Whether [waiter] is in this queue. Exact for every waiter, also for one that another core is enqueueing. */
    abstract fun contains(waiter: Waiter): Boolean

    abstract fun head(): Waiter?

    /** As [head], but past the clauses of [selectId]. */
    abstract fun headBut(selectId: Any): Waiter?

    /** [waiter], which was the head, has been served. */
    open fun served(waiter: Waiter) {}

    /** Runs [action] on every waiter, in no particular order; it may remove the one it is given. */
    abstract fun forEach(action: (Waiter) -> Unit)

    /** Runs [action] on at most [limit] waiters (of each level, where there are some), the first ones to begin with. */
    abstract fun forFirst(limit: Int, action: (Waiter) -> Unit)
}

/** First in, first out: an intrusive doubly linked list. */
internal class FifoWaitQueue : WaitQueue() {
    private var first: Waiter? = null
    private var last: Waiter? = null

    override fun add(waiter: Waiter) {
        val before = last
        waiter.previous = before
        waiter.queue = this
        if (before == null) first = waiter else before.next = waiter
        last = waiter
        size++
    }

    override fun remove(waiter: Waiter) {
        val before = waiter.previous
        val after = waiter.next
        if (before == null) first = after else before.next = after
        if (after == null) last = before else after.previous = before
        // A waiter that has left must not keep its former neighbours alive.
        waiter.previous = null
        waiter.next = null
        waiter.queue = null
        size--
    }

    /** Removes [head], the first waiter. */
    fun removeHead(head: Waiter) {
        val after = head.next
        first = after
        if (after == null) last = null else after.previous = null
        head.next = null
        head.queue = null
        size--
    }

    override fun contains(waiter: Waiter): Boolean = waiter.queue === this

    override fun head(): Waiter? = first

    override fun headBut(selectId: Any): Waiter? {
        var waiter = first
        while (waiter != null && waiter.selectId === selectId) waiter = waiter.next
        return waiter
    }

    /** Empties the queue; its members stay linked by [Waiter.next], beginning with the one returned. */
    fun takeAll(): Waiter? {
        val taken = first
        first = null
        last = null
        size = 0
        return taken
    }

    override fun forEach(action: (Waiter) -> Unit) {
        var waiter = first
        while (waiter != null) {
            val following = waiter.next
            action(waiter)
            waiter = following
        }
    }

    override fun forFirst(limit: Int, action: (Waiter) -> Unit) {
        var waiter = first
        var left = limit
        while (waiter != null && left-- > 0) {
            action(waiter)
            waiter = waiter.next
        }
    }
}
