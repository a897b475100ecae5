package baton.distributed.bridge

import baton.InternalBatonApi
import baton.bridge.startFutureCall
import baton.distributed.Lease
import baton.distributed.locks.LockClient
import baton.distributed.locks.acquire
import baton.distributed.locks.acquireNow
import baton.distributed.locks.acquireOrThrow
import baton.distributed.locks.withLease
import java.time.Duration
import java.util.concurrent.CompletionStage
import java.util.function.BiConsumer
import java.util.function.Consumer
import java.util.function.Function
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.Job

/** The calls of futures at a semaphore or a mutex. */
@InternalBatonApi
public class LeaseCalls internal constructor(private val client: LockClient) {
    /** Refuses what can never succeed, as a call of Kotlin does. */
    public fun require(permits: Int) {
        require(permits >= 1) { "permits = $permits, must be at least 1" }
        val most = client.pool.permits
        require(permits <= most) { "permits = $permits, must be at most $most, the permits of $client" }
    }

    /** A lease; with a [timeout], or fails. */
    public fun acquire(permits: Int, timeout: Duration?, done: BiConsumer<Lease?, Throwable?>): Job =
        startFutureCall(done) {
            if (timeout == null) client.acquire(permits) else client.acquireOrThrow(permits, timeout.toKotlinDuration())
        }

    /** A lease if it is to be had without a wait for others, else null. */
    public fun tryAcquire(permits: Int, done: BiConsumer<Lease?, Throwable?>): Job =
        startFutureCall(done) { client.acquireNow(permits) }

    /** Runs the stage of [action] with a lease. */
    public fun <T> with(
        permits: Int,
        timeout: Duration?,
        action: Function<in Lease, out CompletionStage<T>>,
        cancel: Consumer<CompletionStage<*>>,
        done: BiConsumer<T?, Throwable?>,
    ): Job =
        startFutureCall(done) {
            val block: suspend (Lease) -> T = { lease -> awaitEnd(action, lease, cancel) }
            if (timeout == null) client.withLease(permits, block)
            else client.withLease(permits, timeout.toKotlinDuration(), block)
        }
}
