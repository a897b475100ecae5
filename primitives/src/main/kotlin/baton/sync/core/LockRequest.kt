@file:JvmSynthetic

package baton.sync.core

import baton.waiting.NotedCaller
import baton.waiting.Waiter
import baton.waiting.boost.BoostableHolder

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

/** The request of a waiter of a read-write lock. A reader that can be boosted while it reads is [boostable]. */
internal open class LockRequest(val mode: LockMode, val owner: Any?, val boostable: BoostableHolder? = null) {
    /** Whether nothing is known of the caller. */
    val isPlain: Boolean
        get() = owner == null && boostable == null
}

/** A reader without an owner that names itself at its unlock, where deadlocks are looked for. */
internal class NamedReader(val caller: NotedCaller, val boostable: BoostableHolder?)

/** The request of a [NamedReader]. */
internal class NamedReadRequest(val reader: NamedReader) : LockRequest(LockMode.READ, null, reader.boostable)

internal val Waiter.lockRequest: LockRequest
    get() = request as LockRequest

internal val Waiter.mode: LockMode
    get() = lockRequest.mode
