package baton.batch.core

import baton.BatonClock
import baton.batch.BatchProgress
import baton.batch.BatchReport
import baton.batch.ConcurrencyConfig
import baton.parallel.MemoryGate
import baton.parallel.processInChunks
import baton.resilience.RetryPolicy
import baton.resilience.retry
import baton.waiting.clock.BoundClock
import java.util.Collections.unmodifiableList
import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Job
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.buffer
import kotlinx.coroutines.flow.channelFlow
import kotlinx.coroutines.isActive
import kotlinx.coroutines.launch

/**
 * One call of a `BatchProcessor`.
 *
 * The task calls its `begin` when it has all that it has to wait for. A transform never fails: it makes an [Ended] of
 * each item, which the caller's coroutine, alone, counts. So each item that was pulled is counted once. The one
 * exception is an item that a flow emits while its collection is cancelled: it is [lastPulled], which no transform has
 * seen.
 *
 * [stopped] ends when [maxFailures] have failed. From then on a source ends, and a transform does not begin its task.
 */
internal class BatchRun<T, R>(
    private val config: ConcurrencyConfig,
    private val gate: MemoryGate,
    private val load: BatchLoad,
    private val policy: RetryPolicy,
    private val failureResult: ((R) -> Boolean)?,
    private val onResult: suspend (T, R) -> Unit,
    private val maxFailures: Int,
    private val onProgress: (BatchProgress) -> Unit,
    givenClock: BatonClock?,
    context: CoroutineContext,
    private val task: suspend (item: T, begin: () -> Unit) -> R,
) {
    private val clock = BoundClock(givenClock, context = context)
    private val failures = AtomicInteger()
    private val stopped = Job()

    @Volatile private var lastPulled: Pulled<T>? = null

    private var total: Long? = null
    private var succeeded = 0L
    private var retries = 0L
    private val failed = ArrayList<BatchReport.Failed<T>>()
    private val notStarted = ArrayList<T>()
    private var reported = -1L

    suspend fun process(items: Iterable<T>): BatchReport<T> {
        total = (items as? Collection<*>)?.size?.toLong()
        val iterator = items.iterator()
        val untilStopped = Iterable {
            object : Iterator<T> by iterator {
                override fun hasNext() = stopped.isActive && iterator.hasNext()
            }
        }
        count(untilStopped.processInChunks(config.batchSize, config.maxConcurrentTasks, gate) { run(it) })
        if (!stopped.isActive) {
            while (iterator.hasNext()) {
                currentCoroutineContext().ensureActive()
                notStarted += iterator.next()
            }
        }
        return report()
    }

    suspend fun process(items: Flow<T>): BatchReport<T> {
        val chunks =
            pulled(items).processInChunks(config.batchSize, config.maxConcurrentTasks, gate) { pulled ->
                pulled.isSeen = true
                run(pulled.item)
            }
        count(chunks)
        lastPulled?.let { if (!it.isSeen) notStarted += it.item }
        return report()
    }

    /** Ends when this is [stopped], whatever the source waits for. */
    private fun pulled(items: Flow<T>): Flow<Pulled<T>> =
        channelFlow {
                var failure: CancellationException? = null
                val collection = launch {
                    try {
                        items.collect { send(Pulled(it).also { pulled -> lastPulled = pulled }) }
                    } catch (e: CancellationException) {
                        if (isActive) failure = e // It is the source's own.
                    }
                }
                val stop = stopped.invokeOnCompletion { collection.cancel(null) }
                collection.join()
                stop.dispose()
                failure?.let { throw it }
            }
            .buffer(Channel.RENDEZVOUS)

    private suspend fun run(item: T): Ended<T, R> = load.count { attempt(item) }

    private suspend fun attempt(item: T): Ended<T, R> {
        if (!stopped.isActive) return Ended(item, attempts = 0)
        var attempts = 0
        var isLate = false
        val result = inScope {
            retry(policy, failureResult) {
                task(item) {
                    isLate = attempts == 0 && !stopped.isActive
                    if (isLate) throw CancellationException("no task is begun any more")
                    attempts++
                }
            }
        }
        if (isLate) {
            currentCoroutineContext().ensureActive()
            return Ended(item, attempts = 0)
        }
        result.onFailure { fail(it) }
        return Ended(item, attempts, result)
    }

    /** Throws if the failure is the cancellation of this call. */
    private suspend fun fail(e: Throwable) {
        if (e is CancellationException) currentCoroutineContext().ensureActive()
        if (failures.incrementAndGet() >= maxFailures) stopped.complete()
    }

    private suspend fun count(chunks: Flow<List<Ended<T, R>>>) {
        chunks.collect { chunk ->
            for (ended in chunk) {
                currentCoroutineContext().ensureActive()
                count(ended)
            }
        }
    }

    private suspend fun count(ended: Ended<T, R>) {
        retries += maxOf(ended.attempts - 1, 0)
        val result = ended.result
        if (result == null) {
            notStarted += ended.item
        } else {
            val failure = result.exceptionOrNull() ?: handOver(ended.item, result)
            if (failure == null) succeeded++ else failed += BatchReport.Failed(ended.item, ended.attempts, failure)
        }
        reportProgress()
    }

    /** Returns the failure of [onResult], or null. */
    private suspend fun handOver(item: T, result: Result<R>): Throwable? =
        inScope { onResult(item, result.getOrThrow()) }.onFailure { fail(it) }.exceptionOrNull()

    /** Keeps [call] from cancelling more than itself. Its own exception is caught within, so that it is not copied. */
    private suspend fun <V> inScope(call: suspend () -> V): Result<V> =
        try {
            coroutineScope { runCatching { call() } }
        } catch (e: Throwable) {
            Result.failure(e)
        }

    private fun reportProgress() {
        reported = succeeded + failed.size + notStarted.size
        onProgress(BatchProgress(reported, total, failed.size.toLong(), retries, clock.read().nanoseconds))
    }

    private suspend fun report(): BatchReport<T> {
        currentCoroutineContext().ensureActive()
        if (reported != succeeded + failed.size + notStarted.size) reportProgress()
        return BatchReport(
            succeeded,
            unmodifiableList(failed),
            unmodifiableList(notStarted),
            retries,
            clock.read().nanoseconds,
        )
    }

    /** An item that a flow has emitted. */
    private class Pulled<T>(val item: T) {
        @Volatile var isSeen = false
    }

    /** The outcome of an item. A null [result] says that it was not started. */
    private class Ended<T, R>(val item: T, val attempts: Int, val result: Result<R>? = null)
}
