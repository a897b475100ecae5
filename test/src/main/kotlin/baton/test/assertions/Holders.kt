package baton.test.assertions

import baton.bridge.holdersOf as recordedHoldersOf
import baton.monitoring.Monitored
import baton.sync.Semaphore

/** Which callers hold [lock], or why that is unknown. The [owners] are known in any case. */
internal fun holdersOf(lock: Monitored, owners: List<Any> = emptyList()): String {
    val recorded = recordedHoldersOf(lock)
    return when {
        !recorded.isNullOrEmpty() -> ", " + recorded.joinToString()
        owners.isNotEmpty() -> ", " + owners.joinToString { "owner $it" }
        recorded != null -> " (the holder is unknown: it has neither a coroutine nor an owner)"
        lock is Semaphore && lock.permits != 1 -> " (holders are recorded of one permit alone: try Semaphore(1))"
        else -> " (the holder is unknown: -Dbaton.deadlocks=true records it)"
    }
}
