@file:JvmName("DistributedBridge")

package baton.distributed.bridge

import baton.BatonClock
import baton.InternalBatonApi
import baton.bridge.startFutureCall
import baton.distributed.Cluster
import baton.distributed.CoordinationStore
import baton.distributed.DistributedLeader
import baton.distributed.DistributedMutex
import baton.distributed.DistributedRateLimiter
import baton.distributed.DistributedSemaphore
import baton.distributed.Lease
import java.time.Duration
import java.util.concurrent.CompletionStage
import java.util.function.BiConsumer
import java.util.function.Consumer
import java.util.function.Function
import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException
import kotlin.coroutines.suspendCoroutine
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Job
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch

// The internal API by which futures of Baton's Java API wait for what members share. Cancelling a returned job ends the
// wait; its caller may still get the result then.

/** [Cluster.open] with a Duration of Java. */
@InternalBatonApi
public fun open(
    store: CoordinationStore,
    lease: Duration,
    name: String?,
    namespace: String,
    clock: BatonClock?,
): Cluster = Cluster.open(store, lease.toKotlinDuration(), name, namespace, clock)

@InternalBatonApi
public fun shutdown(cluster: Cluster, done: BiConsumer<Void?, Throwable?>): Job =
    startFutureCall(done) {
        cluster.shutdown()
        null
    }

@InternalBatonApi
@JvmName("of")
public fun callsOf(semaphore: DistributedSemaphore): LeaseCalls = LeaseCalls(semaphore.client)

@InternalBatonApi @JvmName("of") public fun callsOf(mutex: DistributedMutex): LeaseCalls = LeaseCalls(mutex.client)

/** Takes permits; with a [timeout], or fails. */
@InternalBatonApi
public fun acquire(
    limiter: DistributedRateLimiter,
    permits: Int,
    timeout: Duration?,
    done: BiConsumer<Void?, Throwable?>,
): Job =
    startFutureCall(done) {
        if (timeout == null) limiter.acquire(permits) else limiter.acquireWithin(permits, timeout.toKotlinDuration())
        null
    }

/** [DistributedRateLimiter.tryAcquire]. */
@InternalBatonApi
public fun tryAcquire(
    limiter: DistributedRateLimiter,
    permits: Int,
    timeout: Duration,
    done: BiConsumer<Boolean?, Throwable?>,
): Job = startFutureCall(done) { limiter.tryAcquire(permits, timeout.toKotlinDuration()) }

/** [DistributedLeader.run], whose block is the stage of [action]. */
@InternalBatonApi
public fun <T> run(
    leader: DistributedLeader,
    action: Function<in Lease, out CompletionStage<T>>,
    cancel: Consumer<CompletionStage<*>>,
    done: BiConsumer<T?, Throwable?>,
): Job = startFutureCall(done) { leader.run { lease -> awaitEnd(action, lease, cancel) } }

/** The value of the stage of [action]. If this is cancelled, the stage is, and this waits for its end. */
internal suspend fun <T> awaitEnd(
    action: Function<in Lease, out CompletionStage<T>>,
    lease: Lease,
    cancel: Consumer<CompletionStage<*>>,
): T = coroutineScope {
    val stage = action.apply(lease)
    var isDone = false
    val canceller =
        launch(start = CoroutineStart.UNDISPATCHED) {
            try {
                awaitCancellation()
            } finally {
                if (!isDone) cancel.accept(stage)
            }
        }
    try {
        suspendCoroutine { caller ->
            stage.whenComplete { value, failure ->
                if (failure == null) caller.resume(value) else caller.resumeWithException(unwrapped(failure))
            }
        }
    } finally {
        isDone = true
        canceller.cancel(null)
    }
}

private fun unwrapped(failure: Throwable): Throwable =
    if (failure is java.util.concurrent.CompletionException) failure.cause ?: failure else failure
