// These stand in a file of their own because ReadWriteLock.kt is long; the name of the class is as if they did not.
@file:JvmName("ReadWriteLockKt")

package baton.sync

import baton.PermitTimeoutException
import kotlin.contracts.ExperimentalContracts
import kotlin.contracts.InvocationKind
import kotlin.contracts.contract
import kotlin.coroutines.coroutineContext
import kotlin.time.Duration

/**
 * Runs [action] while reading, and unlocks however it ends.
 *
 * @throws IllegalStateException as [ReadWriteLock.lockRead]; [action] has not run.
 */
@OptIn(ExperimentalContracts::class)
public suspend inline fun <T> ReadWriteLock.withRead(owner: Any? = null, action: () -> T): T {
    contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
    val token = readTokenOf(owner, coroutineContext)
    lockReadByToken(owner, token)
    try {
        return action()
    } finally {
        unlockReadByToken(owner, token)
    }
}

/**
 * Runs [action] while writing, and unlocks however it ends.
 *
 * @throws IllegalStateException as [ReadWriteLock.lockWrite]; [action] has not run.
 */
@OptIn(ExperimentalContracts::class)
public suspend inline fun <T> ReadWriteLock.withWrite(owner: Any? = null, action: () -> T): T {
    contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
    lockWrite(owner)
    try {
        return action()
    } finally {
        unlockWrite(owner)
    }
}

/**
 * As [withRead] without a timeout, but waits [timeout] at most for the lock, as [ReadWriteLock.tryLockRead] does. The
 * [action] may take as long as it takes.
 *
 * @throws PermitTimeoutException if the lock was not granted in time; [action] has not run.
 * @throws IllegalStateException as [ReadWriteLock.lockRead]; [action] has not run.
 */
@OptIn(ExperimentalContracts::class)
public suspend inline fun <T> ReadWriteLock.withRead(timeout: Duration, owner: Any? = null, action: () -> T): T {
    contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
    val token = readTokenOf(owner, coroutineContext)
    lockReadWithin(timeout, owner, token)
    try {
        return action()
    } finally {
        unlockReadByToken(owner, token)
    }
}

/** As [withRead] with a timeout, to write. */
@OptIn(ExperimentalContracts::class)
public suspend inline fun <T> ReadWriteLock.withWrite(timeout: Duration, owner: Any? = null, action: () -> T): T {
    contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
    lockWriteWithin(timeout, owner)
    try {
        return action()
    } finally {
        unlockWrite(owner)
    }
}
