package baton.sync

import baton.waiting.Waiter
import baton.waiting.boost.BoostableHolder

/**
 * What a caller asks of a read-write lock; [call] is the name of its function.
 *
 * The core compares modes by `===`: a `when` over an enum has a class of its own, and a class that is first loaded
 * where the stack has no room left stays broken for good.
 */
internal enum class LockMode(val call: String) {
    READ("lockRead"),
    WRITE("lockWrite"),
    UPGRADABLE("lockUpgradable"),

    /** From UPGRADABLE to WRITE. */
    UPGRADE("upgrade");

    private val withoutOwner = LockRequest(this, null)

    fun request(owner: Any?): LockRequest = if (owner == null) withoutOwner else LockRequest(this, owner)
}

/** The request of a waiter of a read-write lock. A reader that can be boosted while it reads is [boostable]. */
internal class LockRequest(val mode: LockMode, val owner: Any?, val boostable: BoostableHolder? = null)

internal val Waiter.lockRequest: LockRequest
    get() = request as LockRequest

internal val Waiter.mode: LockMode
    get() = lockRequest.mode
