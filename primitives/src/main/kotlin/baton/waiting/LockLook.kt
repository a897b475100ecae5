package baton.waiting

/**
 * The noted waiters and holders of one lock, all at the same moment.
 *
 * Holders form groups, because a caller may wait for some of them only: an upgrade waits for the plain readers, not for
 * the upgradable one that it belongs to.
 *
 * @property label of the primitive; it calls users' code, so it is called without a lock.
 */
internal class LockLook(val label: () -> String) {
    val waits = ArrayList<Wait>(0)
    val holds = ArrayList<Hold>(0)

    /** A wait until the holders in all of these [groups], a bit for each, have unlocked. */
    class Wait(val caller: NotedCaller, val groups: Int, val mode: String?)

    class Hold(val caller: NotedCaller, val group: Int)

    /** A clause of a `select` does not count: its caller may go on by another clause. */
    fun addWait(waiter: Waiter, groups: Int, mode: String? = null) {
        val caller = waiter.note as? NotedCaller
        if (caller != null && waiter.selectId == null) waits += Wait(caller, groups, mode)
    }

    fun addHold(caller: NotedCaller?, group: Int) {
        if (caller != null) holds += Hold(caller, group)
    }

    companion object {
        /** The holder of a lock that has at most one, or of its exclusive part. */
        const val SOLE = 1
        const val READERS = 2
    }
}
