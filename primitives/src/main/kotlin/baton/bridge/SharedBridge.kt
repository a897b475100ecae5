@file:JvmName("SharedBridge")

package baton.bridge

import baton.InternalBatonApi
import baton.shared.SharedLock
import baton.shared.SharedMutex
import baton.shared.waiting.FutureContext
import baton.waiting.WaitCore
import java.util.function.BiConsumer
import kotlin.coroutines.Continuation
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.intrinsics.startCoroutineUninterceptedOrReturn
import kotlinx.coroutines.Job

// The internal API by which futures of Baton's Java API lock what processes share.

/** The core at which the callers of this process wait for [mutex]; a granted waiter goes on with [lockGranted]. */
@InternalBatonApi @JvmName("of") public fun coreOf(mutex: SharedMutex): WaitCore = mutex.core.queue

/** The mutex in messages, without its state. */
@InternalBatonApi public fun labelOf(mutex: SharedMutex): String = mutex.core.toString()

/**
 * Waits for other processes, for a caller at the head of the queue of this process, and then calls [done] with the lock
 * or the failure: on this thread if the caller need not wait. The next caller is granted before [done] sees a failure.
 * Cancelling the returned job ends the wait; [done] may still get the lock then.
 */
@InternalBatonApi
public fun lockGranted(mutex: SharedMutex, done: BiConsumer<SharedLock?, Throwable?>): Job {
    val job = Job()
    val completion =
        Continuation<SharedLock>(FutureContext + job) { result ->
            job.complete()
            done.accept(result.getOrNull(), result.exceptionOrNull())
        }
    val outcome = runCatching { suspend { mutex.core.lockGranted() }.startCoroutineUninterceptedOrReturn(completion) }
    if (outcome.getOrNull() === COROUTINE_SUSPENDED) return job
    job.complete()
    done.accept(outcome.getOrNull() as SharedLock?, outcome.exceptionOrNull())
    return job
}
