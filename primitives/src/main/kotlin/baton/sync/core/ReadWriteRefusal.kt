package baton.sync.core

import baton.sync.core.ReadWriteState.Companion.MAX_READERS
import baton.waiting.nameOf

/** Why [owner] got [outcome]; [blocking] is the owner of the request that blocked it. Created under the lock. */
internal class ReadWriteRefusal(
    private val outcome: ReadWriteOutcome,
    private val owner: Any?,
    private val blocking: Any?,
) {
    /** Not under the lock: it calls `toString` of the user's objects. */
    fun exception(mode: LockMode, lock: Any): IllegalStateException {
        val asked = "${mode.call} by ${if (owner == null) "a caller without an owner" else nameOf(owner)}"
        return IllegalStateException("$asked ${why(mode)}: $lock")
    }

    private fun why(mode: LockMode): String =
        when (outcome) {
            ReadWriteOutcome.HELD -> "is refused: this owner holds it already, and would wait for itself"
            ReadWriteOutcome.DEADLOCK -> whyDeadlock(mode)
            ReadWriteOutcome.FULL -> "is refused: there are $MAX_READERS readers, the maximum"
            else -> "is refused: it is not held upgradably by this caller, or is being upgraded already"
        }

    private fun whyDeadlock(mode: LockMode): String {
        val name = blocking?.let(::nameOf) ?: "without an owner"
        return when (mode) {
            LockMode.UPGRADE -> "would wait for ever: this owner holds it to read as well"
            LockMode.UPGRADABLE ->
                "could wait for ever: a holder or writer comes first, $name, " +
                    "and may wait for this owner, which reads already"
            else ->
                "would wait for ever: the writer $name comes first, " +
                    "and waits for this owner, which holds the lock already"
        }
    }
}
