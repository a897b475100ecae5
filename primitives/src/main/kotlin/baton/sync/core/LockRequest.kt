@file:JvmSynthetic

package baton.sync.core

import baton.waiting.Waiter

/** How a caller asks for a read-write lock; [call] is the name of its function. */
internal enum class LockMode(val call: String) {
    READ("lockRead"),
    WRITE("lockWrite"),
    UPGRADABLE("lockUpgradable"),

    /** From UPGRADABLE to WRITE. */
    UPGRADE("upgrade");

    private val withoutOwner = LockRequest(this, null)

    fun request(owner: Any?): LockRequest = if (owner == null) withoutOwner else LockRequest(this, owner)
}

/** The request of a waiter of a read-write lock. */
internal class LockRequest(val mode: LockMode, val owner: Any?)

internal val Waiter.lockRequest: LockRequest
    get() = request as LockRequest

internal val Waiter.mode: LockMode
    get() = lockRequest.mode
