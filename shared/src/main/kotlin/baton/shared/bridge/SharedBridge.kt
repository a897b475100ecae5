@file:JvmName("SharedBridge")

package baton.shared.bridge

import baton.InternalBatonApi
import baton.bridge.startFutureCall
import baton.shared.SharedBarrier
import baton.shared.SharedLock
import baton.shared.SharedMutex
import baton.shared.SharedPermit
import baton.shared.SharedSemaphore
import baton.shared.SharedWaitGroup
import baton.waiting.WaitCore
import java.time.Duration
import java.util.function.BiConsumer
import java.util.function.Supplier
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.Job

// The internal API by which futures of Baton's Java API wait for what processes share.

/** The core at which the callers of this process wait for [mutex]; a granted waiter goes on with [lockGranted]. */
@InternalBatonApi @JvmName("of") public fun coreOf(mutex: SharedMutex): WaitCore = mutex.core.queue

/** The mutex in messages, without its state. */
@InternalBatonApi public fun labelOf(mutex: SharedMutex): String = mutex.core.toString()

/** As [labelOf] of a mutex. */
@InternalBatonApi public fun labelOf(semaphore: SharedSemaphore): String = semaphore.core.toString()

/** As [labelOf] of a mutex. */
@InternalBatonApi public fun labelOf(barrier: SharedBarrier): String = barrier.core.toString()

/** As [labelOf] of a mutex. */
@InternalBatonApi public fun labelOf(group: SharedWaitGroup): String = group.core.toString()

/**
 * Waits for other processes, for a caller at the head of the queue of this process, and then calls [done] with the lock
 * or the failure: on this thread if the caller need not wait. The next caller is granted before [done] sees a failure.
 * Cancelling the returned job ends the wait; [done] may still get the lock then.
 */
@InternalBatonApi
public fun lockGranted(mutex: SharedMutex, done: BiConsumer<SharedLock?, Throwable?>): Job =
    startFutureCall(done) { mutex.core.lockGranted() }

/**
 * Calls [done] with the permits or the failure, which is [late] after the [timeout]; null: no timeout. Cancelling the
 * returned job ends the wait; [done] may still get the permits then.
 */
@InternalBatonApi
public fun acquire(
    semaphore: SharedSemaphore,
    permits: Int,
    timeout: Duration?,
    late: Supplier<Throwable>,
    done: BiConsumer<SharedPermit?, Throwable?>,
): Job =
    startFutureCall(done) {
        if (timeout == null) semaphore.acquire(permits)
        else semaphore.tryAcquire(permits, timeout.toKotlinDuration()) ?: throw late.get()
    }

/** As [acquire], with the number of parties that were missing. */
@InternalBatonApi
public fun arrive(barrier: SharedBarrier, timeout: Duration?, done: BiConsumer<Int?, Throwable?>): Job =
    startFutureCall(done) { barrier.core.arrive(timeout?.toKotlinDuration()) }

/** As [acquire], with null when the count is zero. */
@InternalBatonApi
public fun await(
    group: SharedWaitGroup,
    timeout: Duration?,
    late: Supplier<Throwable>,
    done: BiConsumer<Void?, Throwable?>,
): Job =
    startFutureCall(done) {
        if (timeout == null) group.await() else if (!group.await(timeout.toKotlinDuration())) throw late.get()
        null
    }
