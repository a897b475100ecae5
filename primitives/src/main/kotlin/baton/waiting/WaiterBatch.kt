package baton.waiting

/**
 * Those who wait for one event that lets all of them in at once: the readers behind a writer, the parties of a barrier.
 *
 * ```
 *   gathering ──────▶ ended
 *             end()
 * ```
 * 1. While it gathers, all of it is guarded by the lock of its core, and every operation is O(1).
 * 2. [end] is one step under that lock, however many there are. From then on nobody is added or removed: the links
 *    belong to the thread that wakes, which decides on the members one by one when the lock is free ([arrive]).
 * 3. So a member that is cancelled in between finds the crowd ended, although it was not granted yet. It counts as one
 *    that was: its core takes back what it had got ([WaitCore.takeBack]).
 *
 * The members are woken in the order in which they came. The crowd stands for them in the list of those to wake.
 */
internal open class WaiterBatch : Wakeup() {
    private val members = FifoWaitQueue()

    /** Guarded by the lock. */
    var hasEnded: Boolean = false
        private set

    /** Why its members fail; null if they are granted. Written before it ends. */
    var reason: Any? = null
        private set

    /** How many gather here. */
    val size: Int get() = members.size

    /** Who came first; null if nobody is here. */
    fun first(): Waiter? = members.head()

    fun add(member: Waiter) {
        members.add(member)
    }

    fun remove(member: Waiter) {
        members.remove(member)
    }

    /** Lets all in or, with a [reason], which then is the crowd's own, fails all. Then the core wakes this crowd. */
    fun end(reason: Any? = null) {
        this.reason = reason
        hasEnded = true
    }

    /** The last thing that happens to [member] before it is granted; [place] counts those before it. */
    protected open fun admit(member: Waiter, place: Int) {}

    /** The chain of those whose grant, or failure, was not too late. */
    override fun arrive(): Wakeup? {
        val reason = reason
        var first: Waiter? = null
        var last: Waiter? = null
        var place = 0
        var next = members.takeAll()
        while (next != null) {
            val member: Waiter = next
            next = member.next
            // One that is out must not keep its former neighbours alive.
            member.previous = null
            member.next = null
            member.linked = false
            if (reason == null) admit(member, place)
            if (!(if (reason == null) member.tryGrant() else member.tryFail(reason))) continue
            place++
            if (last == null) first = member else last.chain = member
            last = member
        }
        return first
    }
}
