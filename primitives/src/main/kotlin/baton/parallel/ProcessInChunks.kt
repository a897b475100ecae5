@file:JvmName("Chunks")

package baton.parallel

import baton.parallel.core.ElementSource
import baton.parallel.core.FlowSource
import baton.parallel.core.IteratorSource
import baton.parallel.core.NONE
import baton.parallel.core.checkLimit
import baton.parallel.core.mapFlow
import baton.sync.WaitGroup
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.emitAll
import kotlinx.coroutines.flow.flow

/**
 * Transforms the elements, at most [limit] at a time, and emits the results in chunks of [size], in input order.
 *
 * ```
 * urls.processInChunks(size = 50, limit = 10) { fetch(it) }.collect { pages -> save(pages) }
 * ```
 *
 * The last chunk holds the rest and may be shorter; an empty source emits none. While the collector is busy with a
 * chunk, the next ones are under way. A place that a slow element of a chunk does not need is used by the next chunk.
 *
 * *Bounds.* At most [limit] transforms run, and at most [size] + [limit] results are held, the chunk that is being
 * collected included. An element is pulled only when there is room for its result and a place to transform it.
 *
 * *Gate.* While [gate] is closed, no element is pulled as long as another one is in flight: one at a time passes, so
 * the call slows down and never stops.
 *
 * *Failures and cancellation.* As those of the `mapLimit` of a `Flow`: after the first failure nothing is pulled, the
 * transforms that run are awaited, and the failure is thrown to the collector. Results of chunks that are not complete
 * are dropped. A cancelled collector cancels the running transforms and waits for them.
 *
 * @param size the number of results in a chunk, at least 1.
 * @param limit how many transforms run at the same time, at least 1.
 * @param gate holds elements back while memory is short.
 * @throws IllegalArgumentException at the call if a number is out of its bounds.
 */
public fun <T, R> Iterable<T>.processInChunks(
    size: Int,
    limit: Int,
    gate: MemoryGate? = null,
    transform: suspend (T) -> R,
): Flow<List<R>> = inChunks(size, limit, gate, { IteratorSource(iterator()) }, transform)

/** Transforms the elements in chunks, as the `processInChunks` of an `Iterable` does. */
public fun <T, R> Sequence<T>.processInChunks(
    size: Int,
    limit: Int,
    gate: MemoryGate? = null,
    transform: suspend (T) -> R,
): Flow<List<R>> = inChunks(size, limit, gate, { IteratorSource(iterator()) }, transform)

/**
 * Transforms the elements in chunks, as the `processInChunks` of an `Iterable` does.
 *
 * A flow is not held up before it has emitted, so it may be one element ahead.
 */
public fun <T, R> Flow<T>.processInChunks(
    size: Int,
    limit: Int,
    gate: MemoryGate? = null,
    transform: suspend (T) -> R,
): Flow<List<R>> = inChunks(size, limit, gate, { FlowSource(this) }, transform)

private fun <T, R> inChunks(
    size: Int,
    limit: Int,
    gate: MemoryGate?,
    source: () -> ElementSource,
    transform: suspend (T) -> R,
): Flow<List<R>> {
    require(size >= 1) { "size = $size, must be at least 1" }
    checkLimit(limit)
    return flow {
        val intake = ChunkIntake(source(), gate)
        val chunks =
            mapFlow<T, List<R>>(
                { intake },
                limit,
                ordered = true,
                cancelRunning = false,
                maxFailures = null,
                weight = null,
                { element -> intake.finishing { transform(element) } },
                chunk = size,
            )
        emitAll(chunks)
    }
}

/** Holds the puller up until the gate lets an element through. */
private class ChunkIntake(private val source: ElementSource, private val gate: MemoryGate?) : ElementSource() {
    private val inFlight = WaitGroup()

    @Volatile private var isStopped = false

    override fun startIn(scope: CoroutineScope) = source.startIn(scope)

    override suspend fun next(): Any? {
        while (!isStopped && gate?.isOpen == false) {
            if (inFlight.await(gate.every)) break
        }
        val element = if (isStopped) NONE else source.next()
        if (element !== NONE) inFlight.add(1)
        return element
    }

    override fun stop() {
        isStopped = true
        source.stop()
    }

    override fun lateFailure(): Throwable? = source.lateFailure()

    suspend inline fun <R> finishing(transform: suspend () -> R): R =
        try {
            transform()
        } finally {
            inFlight.done()
        }
}
