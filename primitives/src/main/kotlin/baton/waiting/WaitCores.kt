@file:JvmName("WaitCores")

package baton.waiting

import baton.sync.Condition
import baton.sync.Mutex
import baton.sync.Semaphore

// The door through which Baton's Java face lets its futures into the queues: the one file of this package that knows the
// primitives. It stands here because here nobody but our own modules can reach it.

/** Where those who want to lock this mutex wait; a waiter's weight is 1, its tag the owner or null. */
@InternalBatonApi
@JvmName("of")
public fun coreOf(mutex: Mutex): WaitCore = mutex.core

/** Where those who want permits wait; a waiter's weight is their number, its tag the priority or null. */
@InternalBatonApi
@JvmName("of")
public fun coreOf(semaphore: Semaphore): WaitCore = semaphore.core

/** Where those who want a signal wait, each of them a [SignalWaiter]. */
@InternalBatonApi
@JvmName("of")
public fun coreOf(condition: Condition): WaitCore = condition.core

/** The weight of a waiter for [Semaphore.awaitIdle]. */
@InternalBatonApi
public const val IDLE_WEIGHT: Int = 0
