@file:JvmName("Chunks")

package baton.parallel

import baton.sync.Semaphore
import baton.sync.WaitGroup
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.FlowCollector
import kotlinx.coroutines.flow.flow

/**
 * Transforms the elements, at most [limit] at a time, and emits the results in chunks of [size], in input order.
 *
 * ```
 * urls.processInChunks(size = 50, limit = 10) { fetch(it) }.collect { pages -> save(pages) }
 * ```
 *
 * The last chunk is as long as what is left; an empty source emits none. While the collector is busy with a chunk, the
 * next ones are under way. A place that a slow element of a chunk does not need is used by the next chunk.
 *
 * *Bounds.* At most [limit] transforms run, and at most [size] + [limit] results are held, the chunk that is being
 * collected included. An element is pulled only when there is room for its result and a place to transform it.
 *
 * *Gate.* While [gate] is closed, no element is pulled as long as another one is in flight: one at a time passes, so
 * the call slows down and never stops.
 *
 * *Failures and cancellation.* As those of the `mapLimit` of a `Flow`: after the first failure nothing is pulled, the
 * transforms that run are awaited, and the failure is thrown to the collector. Results of chunks that are not complete
 * are dropped. A cancelled collector cancels what runs and waits for it.
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
): Flow<List<R>> = ChunkIntake(size, limit, gate, transform).chunksOf { elements -> pullAll(iterator(), elements) }

/** Transforms the elements in chunks, as the `processInChunks` of an `Iterable` does. */
public fun <T, R> Sequence<T>.processInChunks(
    size: Int,
    limit: Int,
    gate: MemoryGate? = null,
    transform: suspend (T) -> R,
): Flow<List<R>> = ChunkIntake(size, limit, gate, transform).chunksOf { elements -> pullAll(iterator(), elements) }

/**
 * Transforms the elements in chunks, as the `processInChunks` of an `Iterable` does.
 *
 * A source that emits is not held up before it has emitted, so one element more is pulled than there is room for.
 */
public fun <T, R> Flow<T>.processInChunks(
    size: Int,
    limit: Int,
    gate: MemoryGate? = null,
    transform: suspend (T) -> R,
): Flow<List<R>> =
    ChunkIntake(size, limit, gate, transform).chunksOf { elements ->
        collect { element ->
            awaitTurn()
            take(element, elements)
        }
    }

/** Refuses bad arguments at the call; each collection has an intake of its own. */
private class ChunkIntake<T, R>(
    private val size: Int,
    private val limit: Int,
    private val gate: MemoryGate?,
    private val transform: suspend (T) -> R,
) {
    init {
        require(size >= 1) { "size = $size, must be at least 1" }
        require(limit >= 1) { "limit = $limit, must be at least 1" }
    }

    fun chunksOf(pull: suspend Intake.(FlowCollector<Numbered<T>>) -> Unit): Flow<List<R>> = flow {
        val intake = Intake()
        val results =
            flow { intake.pull(this) }.mapLimit(limit, ordered = false) { Numbered(it.number, intake.finish(it.value)) }
        val chunks = ChunkQueue<R>(size)
        results.collect { result ->
            chunks.add(result)
            while (true) intake.emitAndForget(chunks.pollComplete() ?: break, this)
        }
        chunks.rest()?.let { emit(it) }
    }

    /**
     * What one collection lets in.
     *
     * An element takes one permit of [room], which goes back when the chunk of its result has been collected, and one
     * of [places], which goes back when its transform ends. Elements are let in by number, so those of the first chunk
     * that is not complete always have theirs. The permits of an element that fails do not come back: nothing is let in
     * then.
     */
    inner class Intake {
        private val room = Semaphore(minOf(size.toLong() + limit, Int.MAX_VALUE.toLong()).toInt())
        private val places = Semaphore(limit)
        private val inFlight = WaitGroup()
        private var next = 0L

        suspend fun pullAll(source: Iterator<T>, elements: FlowCollector<Numbered<T>>) {
            while (true) {
                awaitTurn()
                if (!source.hasNext()) return
                take(source.next(), elements)
            }
        }

        suspend fun awaitTurn() {
            room.acquire()
            places.acquire()
            while (gate != null && !gate.isOpen) {
                if (inFlight.await(gate.every)) return
            }
        }

        suspend fun take(element: T, elements: FlowCollector<Numbered<T>>) {
            inFlight.add(1)
            elements.emit(Numbered(next++, element))
        }

        suspend fun finish(element: T): R {
            val result =
                try {
                    transform(element)
                } finally {
                    inFlight.done()
                }
            places.release()
            return result
        }

        suspend fun emitAndForget(chunk: List<R>, collector: FlowCollector<List<R>>) {
            collector.emit(chunk)
            room.release(chunk.size)
        }
    }
}

internal class Numbered<out T>(val number: Long, val value: T)

/** Results that come in any order, by chunks in the order of their numbers. Confined to the collector. */
private class ChunkQueue<R>(private val size: Int) {
    private class Chunk<R> {
        val results = ArrayList<R?>()
        var count = 0
    }

    /** Begins with the first chunk that has not been handed out. */
    private val chunks = ArrayDeque<Chunk<R>>()
    private var first = 0L

    fun add(result: Numbered<R>) {
        val index = (result.number / size - first).toInt()
        while (chunks.size <= index) chunks.addLast(Chunk())
        val chunk = chunks[index]
        val place = (result.number % size).toInt()
        while (chunk.results.size <= place) chunk.results.add(null)
        chunk.results[place] = result.value
        chunk.count++
    }

    fun pollComplete(): List<R>? = if (chunks.firstOrNull()?.count == size) poll() else null

    /** The last chunk, which is shorter; all others have been handed out. */
    fun rest(): List<R>? = if (chunks.isEmpty()) null else poll()

    private fun poll(): List<R> {
        first++
        @Suppress("UNCHECKED_CAST")
        return chunks.removeFirst().results as List<R>
    }
}
