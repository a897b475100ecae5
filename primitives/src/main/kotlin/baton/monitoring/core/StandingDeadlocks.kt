@file:JvmSynthetic

package baton.monitoring.core

import baton.InternalBatonApi
import baton.monitoring.Deadlock
import baton.waiting.holders.DeadlockDetection
import kotlin.time.Duration

/** The deadlocks of this moment, for a caller who knows that nothing moves; null where holders are not noted. */
@InternalBatonApi
public fun standingDeadlocks(): List<Deadlock>? {
    if (!DeadlockDetection.isOn) return null
    val search = DeadlockSearch(standing = Duration.ZERO)
    search.find()
    return search.find()
}
