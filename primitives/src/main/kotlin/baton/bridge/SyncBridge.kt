@file:JvmName("SyncBridge")

package baton.bridge

import baton.InternalBatonApi
import baton.sync.Barrier
import baton.sync.BarrierCancellation
import baton.sync.Condition
import baton.sync.Latch
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.WaitGroup
import baton.sync.core.LockMode
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

// The internal API by which futures and threads of Baton's Java API enter the queues. ChannelBridge.kt has that of the
// channels.

/** The core at which callers wait for this mutex; a waiter's request is the owner or null. */
@InternalBatonApi @JvmName("of") public fun coreOf(mutex: Mutex): WaitCore = mutex.core

/** The core at which callers wait for permits; a waiter's number is how many, its request the priority or null. */
@InternalBatonApi @JvmName("of") public fun coreOf(semaphore: Semaphore): WaitCore = semaphore.core

/** Throws unless this semaphore could ever grant that many. */
@InternalBatonApi public fun checkPermits(semaphore: Semaphore, permits: Int): Unit = semaphore.checkWeight(permits)

/** [Semaphore.tryAcquire] by the current thread, which is noted as the holder where deadlocks are looked for. */
@InternalBatonApi
public fun tryAcquireAsThread(semaphore: Semaphore, permits: Int): Boolean = semaphore.tryAcquireAsThread(permits)

/** [Semaphore.drain] by the current thread, as [tryAcquireAsThread]. */
@InternalBatonApi public fun drainAsThread(semaphore: Semaphore): Int = semaphore.drainAsThread()

/** The core at which readers and writers wait; a waiter's request is the result of one of the four functions below. */
@InternalBatonApi @JvmName("of") public fun coreOf(lock: ReadWriteLock): WaitCore = lock.core

@InternalBatonApi public fun readRequest(owner: Any?): Any = LockMode.READ.request(owner)

@InternalBatonApi public fun writeRequest(owner: Any?): Any = LockMode.WRITE.request(owner)

@InternalBatonApi public fun upgradableRequest(owner: Any?): Any = LockMode.UPGRADABLE.request(owner)

@InternalBatonApi public fun upgradeRequest(owner: Any?): Any = LockMode.UPGRADE.request(owner)

/** The core at which callers await this latch. */
@InternalBatonApi @JvmName("of") public fun coreOf(latch: Latch): WaitCore = latch.core

/** The core at which callers await this group. */
@InternalBatonApi @JvmName("of") public fun coreOf(group: WaitGroup): WaitCore = group.core

/**
 * The core at which the parties of this barrier wait. A party is granted its arrival index, or what it has to [lead].
 */
@InternalBatonApi @JvmName("of") public fun coreOf(barrier: Barrier): WaitCore = barrier.core

/** Arrives if that needs no waiting; else returns null, and breaks the barrier if the caller [givesUp]. */
@InternalBatonApi public fun arriveNow(barrier: Barrier, givesUp: Boolean): Any? = barrier.arriveNow(givesUp)

/** A party was cancelled before it arrived, which breaks a barrier of [BarrierCancellation.BREAK]. */
@InternalBatonApi public fun abandon(barrier: Barrier): Unit = barrier.core.abandon()

/**
 * Runs the barrier's action for a last party that is no coroutine, beginning on this thread, and then calls [done] with
 * the arrival index or the party's failure. Cancelling the returned job cancels the action.
 *
 * @param granted the party's grant, which is not an arrival index.
 */
@InternalBatonApi
public fun lead(barrier: Barrier, granted: Any, done: BiConsumer<Int?, Throwable?>): Job {
    val job = Job()
    suspend { barrier.lead(granted as WaiterBatch) }
        .startCoroutine(
            Continuation(job) { result ->
                job.complete()
                done.accept(result.getOrNull(), result.exceptionOrNull())
            }
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

/** The core at which callers wait for a signal, each a [SignalWaiter]. */
@InternalBatonApi @JvmName("of") public fun coreOf(condition: Condition): WaitCore = condition.core

/** The number of a waiter for [Semaphore.awaitIdle]. */
@InternalBatonApi public const val IDLE_WEIGHT: Int = baton.sync.core.IDLE_WEIGHT

/** The granted [waiter], one that confirms, keeps its grant. Called once for a grant. */
@InternalBatonApi public fun arrived(waiter: Waiter): Unit = waiter.core.arrived(waiter)

/** Passes on the grant of [waiter], which cannot take it. Called once for a grant. */
@InternalBatonApi public fun giveBack(waiter: Waiter): Unit = waiter.core.giveBack(waiter)
