package baton.waiting

/**
 * Waiters that one event releases together: the readers behind a writer, the parties of a barrier.
 *
 * ```
 *   gathering ──────▶ ended
 *             end()
 * ```
 * 1. While the batch gathers, the lock of its core guards all of it, and every operation is O(1).
 * 2. [end] is one step under that lock, however many members there are. After it no member is added or removed: the
 *    links belong to the waking thread, which grants the members one by one when the lock is free ([arrive]).
 * 3. The state of a member is [Waiter.GATHERING] and changes by compare-and-set, because the waking thread grants
 *    without the lock. A member that is cancelled between [end] and its grant finds the batch ended. It counts as
 *    granted: its core takes the grant back ([WaitCore.takeBack]).
 *
 * The members are woken in the order of their arrival. The batch stands for them in the wake list.
 */
internal open class WaiterBatch : Wakeup() {
    private val members = FifoWaitQueue()

    /** Guarded by the lock. */
    var hasEnded: Boolean = false
        private set

    /** Why its members fail; null if they are granted. Written before it ends. */
    var reason: Any? = null
        private set

    /** The number of members. */
    val size: Int
        get() = members.size

    /** The member that arrived first; null if there is none. */
    fun first(): Waiter? = members.head()

    /** As [WaitQueue.forFirst]. While it gathers. */
    fun forFirst(limit: Int, action: (Waiter) -> Unit) {
        members.forFirst(limit, action)
    }

    fun add(member: Waiter) {
        members.add(member)
    }

    fun remove(member: Waiter) {
        members.remove(member)
    }

    /** Grants all members or, with a [reason], fails them. Then the core wakes this batch. */
    fun end(reason: Any? = null) {
        this.reason = reason
        hasEnded = true
    }

    /** Called last before [member] is granted; [place] counts the members granted before it. */
    protected open fun admit(member: Waiter, place: Int) {}

    /** Returns the chain of the members that were granted or failed: not withdrawn before. */
    override fun arrive(): Wakeup? {
        val reason = reason
        var first: Waiter? = null
        var last: Waiter? = null
        var place = 0
        var next = members.takeAll()
        while (next != null) {
            val member: Waiter = next
            next = member.next
            // A waiter that has left must not keep its former neighbours alive.
            member.previous = null
            member.next = null
            member.queue = null
            if (reason == null) admit(member, place)
            if (!(if (reason == null) member.tryGrant() else member.tryFail(reason))) continue
            place++
            if (last == null) first = member else last.chain = member
            last = member
        }
        return first
    }
}
