@file:JvmName("WaitCores")

package baton.waiting

import baton.sync.Latch
import baton.sync.Mutex
import baton.sync.ReadWriteCore
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.WaitGroup

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

/** Where those who want to read or write wait; a waiter's weight is one of the four below, its tag the owner or null. */
@InternalBatonApi
@JvmName("of")
public fun coreOf(lock: ReadWriteLock): WaitCore = lock.core

@InternalBatonApi
public const val READ_WEIGHT: Int = ReadWriteCore.READ

@InternalBatonApi
public const val WRITE_WEIGHT: Int = ReadWriteCore.WRITE

@InternalBatonApi
public const val UPGRADABLE_WEIGHT: Int = ReadWriteCore.READ_UPGRADABLY

@InternalBatonApi
public const val UPGRADE_WEIGHT: Int = ReadWriteCore.UPGRADE

/** Where those who await this latch wait; a waiter's weight is 1, its tag null. */
@InternalBatonApi
@JvmName("of")
public fun coreOf(latch: Latch): WaitCore = latch.core

/** Where those who await this group wait; a waiter's weight is 1, its tag null. */
@InternalBatonApi
@JvmName("of")
public fun coreOf(group: WaitGroup): WaitCore = group.core

/** The weight of a waiter for [Semaphore.awaitIdle]. */
@InternalBatonApi
public const val IDLE_WEIGHT: Int = 0
