@file:JvmSynthetic

package baton.sync.core

import baton.Priority
import baton.waiting.Waiter

/** The permits that a caller of `Semaphore.awaitIdle` asks for. */
internal const val IDLE_WEIGHT: Int = 0

/** How many permits a waiter of a semaphore asks for; [IDLE_WEIGHT] if it waits for the semaphore to be idle. */
internal val Waiter.weight: Int
    get() = number

internal val Waiter.awaitsIdle: Boolean
    get() = number == IDLE_WEIGHT

/** The level at which it asks, where `WaitOrder.PRIORITY` is the order. */
internal val Waiter.level: Priority
    get() = request as Priority? ?: Priority.NORMAL
