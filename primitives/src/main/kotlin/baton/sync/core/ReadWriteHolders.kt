@file:JvmSynthetic

package baton.sync.core

import baton.waiting.NOT_LOCKED
import baton.waiting.nameOf
import baton.waiting.wrongOwner

private const val SHOWN = 5

// Not under the lock: these call `toString` of the user's owners.

/** The holders of the lock as text, for its `toString`. */
internal fun ReadWriteCore.holders(): String {
    val readers = readerCount
    return when {
        isWriteLocked -> writeHolder?.let { "written by ${nameOf(it)}" } ?: "written"
        readers > 0 -> "readers = $readers" + names(readHolders)
        else -> "free"
    }
}

/** The exception of a [call] by [owner] that ends or changes a hold which the caller does not have. */
internal fun ReadWriteCore.notHeld(call: String, owner: Any?): IllegalStateException {
    val readers = readerCount
    val state =
        when {
            isWriteLocked -> "locked to write " + (writeHolder?.let { "by ${nameOf(it)}" } ?: "without an owner")
            readers > 0 -> "locked to read (readers = $readers${names(readHolders)})"
            else -> NOT_LOCKED
        }
    return IllegalStateException(wrongOwner(call, owner, label(), state))
}

private fun names(owners: List<Any>) =
    if (owners.isEmpty()) "" else owners.joinToString(prefix = " (", postfix = ")", limit = SHOWN) { nameOf(it) }
