@file:JvmName("SyncBridge")

package baton.bridge

import baton.sync.Barrier
import baton.sync.BarrierCancellation
import baton.sync.Condition
import baton.sync.Latch
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.ReadWriteState
import baton.sync.Semaphore
import baton.sync.WaitGroup
import baton.waiting.InternalBatonApi
import baton.waiting.SignalWaiter
import baton.waiting.WaitCore
import baton.waiting.Waiter
import baton.waiting.WaiterBatch
import java.util.concurrent.CompletionStage
import java.util.function.BiConsumer
import java.util.function.Supplier
import kotlin.coroutines.Continuation
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.Job
import kotlinx.coroutines.future.await

// The door through which Baton's Java face lets its futures into the queues. It and ChannelBridge.kt, that of the
// channels, are the files of this package that know the primitives. They stand here because here nobody but our own
// modules can reach them.

/** Where those who want to lock this mutex wait; a waiter's weight is 1, its tag the owner or null. */
@InternalBatonApi
@JvmName("of")
public fun coreOf(mutex: Mutex): WaitCore = mutex.core

/** Where those who want permits wait; a waiter's weight is their number, its tag the priority or null. */
@InternalBatonApi
@JvmName("of")
public fun coreOf(semaphore: Semaphore): WaitCore = semaphore.core

/** Throws unless this semaphore could ever grant that many. */
@InternalBatonApi
public fun checkPermits(semaphore: Semaphore, permits: Int): Unit = semaphore.checkWeight(permits)

/**
 * Where those who want to read or write wait; a waiter's weight is one of the four below, its tag the owner or null.
 */
@InternalBatonApi
@JvmName("of")
public fun coreOf(lock: ReadWriteLock): WaitCore = lock.core

@InternalBatonApi
public const val READ_WEIGHT: Int = ReadWriteState.READ

@InternalBatonApi
public const val WRITE_WEIGHT: Int = ReadWriteState.WRITE

@InternalBatonApi
public const val UPGRADABLE_WEIGHT: Int = ReadWriteState.READ_UPGRADABLY

@InternalBatonApi
public const val UPGRADE_WEIGHT: Int = ReadWriteState.UPGRADE

/** Where those who await this latch wait; a waiter's weight is 1, its tag null. */
@InternalBatonApi
@JvmName("of")
public fun coreOf(latch: Latch): WaitCore = latch.core

/** Where those who await this group wait; a waiter's weight is 1, its tag null. */
@InternalBatonApi
@JvmName("of")
public fun coreOf(group: WaitGroup): WaitCore = group.core

/** Where the parties of this barrier wait; what one is granted is its arrival index, or what it has to [lead]. */
@InternalBatonApi
@JvmName("of")
public fun coreOf(barrier: Barrier): WaitCore = barrier.core

/** As a waiter at the barrier's core would, if it need not wait; else null, which breaks if the caller [givesUp]. */
@InternalBatonApi
public fun arriveNow(barrier: Barrier, givesUp: Boolean): Any? = barrier.arriveNow(givesUp)

/**
 * Runs the barrier's action for a last selectId that is a future, beginning on this thread, and then tells [done] the
 * arrival index or what the selectId fails with. The job that it answers can be cancelled, and the action with it.
 *
 * @param granted what the selectId was granted that is not an arrival index.
 */
@InternalBatonApi
public fun lead(barrier: Barrier, granted: Any, done: BiConsumer<Int?, Throwable?>): Job {
    val job = Job()
    suspend { barrier.lead(granted as WaiterBatch) }.startCoroutine(
        Continuation(job) { result ->
            job.complete()
            done.accept(result.getOrNull(), result.exceptionOrNull())
        },
    )
    return job
}

/** A barrier whose action ends when the stage of [action] has completed. */
@InternalBatonApi
public fun barrierOf(
    parties: Int,
    onCancel: BarrierCancellation,
    name: String?,
    action: Supplier<out CompletionStage<*>?>,
): Barrier =
    Barrier(parties, onCancel, name) {
        (action.get() ?: throw NullPointerException("the action returned null instead of a stage")).await()
    }

/** Where those who want a signal wait, each of them a [SignalWaiter]. */
@InternalBatonApi
@JvmName("of")
public fun coreOf(condition: Condition): WaitCore = condition.core

/** The weight of a waiter for [Semaphore.awaitIdle]. */
@InternalBatonApi
public const val IDLE_WEIGHT: Int = 0

/** The granted [waiter], one that confirms, keeps what it was granted. Once for a grant. */
@InternalBatonApi
public fun arrived(waiter: Waiter): Unit = waiter.core.arrived(waiter)

/** Passes on what was granted to [waiter], who cannot take it. Once for a grant. */
@InternalBatonApi
public fun giveBack(waiter: Waiter): Unit = waiter.core.giveBack(waiter)
