package baton.waiting.holders

import baton.waiting.WaitCore
import baton.waiting.Waiter

/** A core of a lock: what a [LockLook] sees of its waiters. */
internal interface LockCore {
    /** Adds the waits to [look]. Under the lock. */
    fun addWaits(look: LockLook)
}

/**
 * The known waiters and holders of one lock, all at the same moment.
 *
 * Holders form groups, because a caller may wait for some of them only: an upgrade waits for the plain readers, not for
 * the upgradable one that it belongs to.
 */
internal class LockLook(private val core: WaitCore) {
    val waits = ArrayList<Wait>(0)
    val holds = ArrayList<Hold>(0)

    init {
        core.decide {
            val holders = core.holders
            holders?.forEach { holds += Hold(it, if (it === holders.sole) SOLE else READERS) }
            (core as LockCore).addWaits(this)
        }
    }

    /** The primitive. Calls users' code, so it is called without a lock. */
    fun label(): String = core.label()

    /** A wait until the holders in all of these [groups], a bit for each, have unlocked. */
    class Wait(val caller: Holder, val groups: Int, val mode: String?)

    class Hold(val caller: Holder, val group: Int)

    /** A clause of a `select` does not count: its caller may go on by another clause. */
    fun addWait(waiter: Waiter, groups: Int, mode: String? = null) {
        val caller = waiter.holder
        if (caller != null && waiter.selectId == null) waits += Wait(caller, groups, mode)
    }

    companion object {
        /** The holder of a lock that has at most one, or of its exclusive part. */
        const val SOLE = 1
        const val READERS = 2
    }
}
