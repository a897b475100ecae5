package baton.distributed.locks

import baton.PermitTimeoutException
import baton.distributed.Lease
import baton.distributed.StoreUnavailableException
import kotlin.coroutines.cancellation.CancellationException
import kotlin.time.Duration
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.withTimeoutOrNull

/** A lease of [permits], waiting for it if necessary. */
internal suspend fun LockClient.acquire(permits: Int): Lease {
    while (true) {
        pool.acquire(permits)
        lease(permits)?.let {
            return it
        }
    }
}

/** As [acquire], but null if the lease is not granted within [timeout]. Zero or less asks the store once. */
internal suspend fun LockClient.acquireWithin(permits: Int, timeout: Duration): Lease? {
    if (timeout <= Duration.ZERO) return acquireNow(permits)
    var lease: Lease? = null
    // The value of the block would be lost if the time ran out at the moment of the grant.
    releasedIfThrown({ lease }) { withTimeoutOrNull(timeout) { lease = acquire(permits) } }
    if (lease == null) requireStore(timeout)
    return lease
}

/** After a request that was not granted in time: the store may be the reason. */
internal fun DocumentClient<*>.requireStore(timeout: Duration) {
    trouble?.let { throw StoreUnavailableException("$label, within $timeout: ${it.message}", it) }
}

/** A lease if it is to be had without a wait for other holders, after at most one look into the store. */
internal suspend fun LockClient.acquireNow(permits: Int): Lease? {
    while (takeNow(permits)) {
        lease(permits)?.let {
            return it
        }
    }
    return null
}

/** Takes permits of the pool if they are there, or after one look into the store. */
internal suspend fun DocumentClient<*>.takeNow(permits: Int): Boolean {
    if (pool.tryAcquire(permits)) return true
    if (pool.waiting > 0) return false
    // A value of a coroutine that is cancelled as it ends would be lost.
    var isTaken = false
    try {
        coroutineScope {
            val request =
                launch(start = CoroutineStart.UNDISPATCHED) {
                    pool.acquire(permits)
                    isTaken = true
                }
            val isSeen = CompletableDeferred<Unit>()
            ask { failure ->
                if (failure == null) isSeen.complete(Unit)
                else if (failure !is CancellationException) isSeen.completeExceptionally(failure)
            }
            select {
                request.onJoin {}
                isSeen.onAwait {}
            }
            request.cancel(null)
        }
    } catch (e: Throwable) {
        if (isTaken) pool.bring(permits)
        throw e
    }
    return isTaken || pool.tryAcquire(permits)
}

/** The caller may be cancelled after its request was granted: then the block throws, and the lease would be lost. */
private inline fun <T> releasedIfThrown(lease: () -> Lease?, block: () -> T): T =
    try {
        block()
    } catch (e: Throwable) {
        lease()?.release()
        throw e
    }

internal suspend fun <T> LockClient.withLease(permits: Int, block: suspend (Lease) -> T): T =
    run(acquire(permits), block)

/** As [withLease], or throws [PermitTimeoutException]. */
internal suspend fun <T> LockClient.withLease(permits: Int, timeout: Duration, block: suspend (Lease) -> T): T =
    run(acquireOrThrow(permits, timeout), block)

/** As [acquireWithin], or throws [PermitTimeoutException]. */
internal suspend fun LockClient.acquireOrThrow(permits: Int, timeout: Duration): Lease {
    val what = if (permits == 1) "not granted" else "no $permits permits"
    return acquireWithin(permits, timeout) ?: throw PermitTimeoutException("$what within $timeout: $label${heldBy()}")
}

/** The block is cancelled when the lease is lost, and then the loss is thrown. */
private suspend fun <T> run(lease: Lease, block: suspend (Lease) -> T): T =
    lease.use {
        val value =
            try {
                coroutineScope {
                    val job = currentCoroutineContext().job
                    lease.onLost { job.cancel(CancellationException("the lease was lost")) }.use { block(lease) }
                }
            } catch (e: Throwable) {
                val loss = lease.loss
                if (loss == null || e is CancellationException && !currentCoroutineContext().job.isActive) throw e
                throw loss.also { if (e !is CancellationException && e !== loss) it.addSuppressed(e) }
            }
        lease.loss?.let { throw it }
        value
    }
