@file:JvmName("HolderBridge")

package baton.bridge

import baton.InternalBatonApi
import baton.channels.Channel
import baton.monitoring.Monitored
import baton.monitoring.core.reportedSite
import baton.monitoring.core.whereTaken
import baton.resilience.BreakerState
import baton.resilience.CircuitBreaker
import baton.resilience.RateLimiter
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.waiting.holders.DeadlockDetection
import baton.waiting.holders.LockLook

/**
 * The callers that hold [lock], each with the call that took it; empty if none is known. Null where holders are not
 * recorded: [lock] is no lock, has more than one permit, or deadlocks are not looked for.
 */
@InternalBatonApi
public fun holdersOf(lock: Monitored): List<String>? {
    if (!DeadlockDetection.isOn) return null
    val core =
        when (lock) {
            is Mutex -> lock.core
            is ReadWriteLock -> lock.core
            is Semaphore -> if (lock.permits == 1) lock.core else null
            else -> null
        }
    return core?.let(::LockLook)?.holds?.map { it.caller.describe() + whereTaken(it.caller.reportedSite()) }
}

/** Whether [source] is closed, or, of a breaker, in its state CLOSED; null for other objects. */
@InternalBatonApi
public fun isClosed(source: Monitored): Boolean? =
    when (source) {
        is Semaphore -> source.core.isClosed
        is Channel<*> -> source.isClosed
        is RateLimiter -> source.core.isClosed
        is CircuitBreaker -> source.state == BreakerState.CLOSED
        else -> null
    }
