@file:JvmSynthetic

package baton.parallel.core

import baton.parallel.Outcome
import baton.sync.Semaphore
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow

internal fun checkLimit(limit: Int) {
    require(limit >= 1) { "limit = $limit, must be at least 1" }
}

private fun checkMaxFailures(maxFailures: Int) {
    require(maxFailures >= 1) { "maxFailures = $maxFailures, must be at least 1" }
}

// The functions below check their arguments before they ask for the elements.

@Suppress("UNCHECKED_CAST")
internal suspend fun <T, R> mapToList(
    elements: () -> Iterator<T>,
    limit: Int,
    ordered: Boolean,
    cancelRunning: Boolean,
    weight: ((T) -> Int)?,
    transform: suspend (T) -> R,
): List<R> {
    checkLimit(limit)
    val results = if (ordered) OrderedResults() else UnorderedResults()
    val core = MapCore(results, settling = false, Int.MAX_VALUE)
    val source = IteratorSource(elements())
    MapWorkers(core, source, limit, weight, cancelRunning, placesFor(limit, weight), transform).run()
    return results.toList() as List<R>
}

/** @param complete whether each element has an outcome, the ones that were not started included. */
@Suppress("UNCHECKED_CAST")
internal suspend fun <T, R> settle(
    iterator: () -> Iterator<T>,
    limit: Int,
    maxFailures: Int,
    weight: ((T) -> Int)?,
    complete: Boolean,
    transform: suspend (T) -> R,
): List<Outcome<R>> {
    checkLimit(limit)
    checkMaxFailures(maxFailures)
    val elements = iterator()
    val results = OrderedResults()
    val core = MapCore(results, settling = true, maxFailures)
    val workers = MapWorkers(core, IteratorSource(elements), limit, weight, false, placesFor(limit, weight), transform)
    workers.run()
    val outcomes = results.toList()
    if (complete && !core.isExhausted) {
        if (workers.hasPending) outcomes += Outcome.NotStarted
        while (elements.hasNext()) {
            currentCoroutineContext().ensureActive()
            elements.next()
            outcomes += Outcome.NotStarted
        }
    }
    return outcomes as List<Outcome<R>>
}

internal suspend fun <T> forEach(
    source: () -> ElementSource,
    limit: Int,
    cancelRunning: Boolean,
    weight: ((T) -> Int)?,
    action: suspend (T) -> Unit,
) {
    checkLimit(limit)
    val core = MapCore(NoResults, settling = false, Int.MAX_VALUE)
    MapWorkers(core, source(), limit, weight, cancelRunning, placesFor(limit, weight), action).run()
}

/**
 * @param source is called with the places if the source may take them itself.
 * @param maxFailures null unless the flow is one of outcomes.
 * @param chunk how many results are emitted together, as a list; 0 if each is emitted by itself.
 */
internal fun <T, R> mapFlow(
    source: (Semaphore?) -> ElementSource,
    limit: Int,
    ordered: Boolean,
    cancelRunning: Boolean,
    maxFailures: Int?,
    weight: ((T) -> Int)?,
    transform: suspend (T) -> Any?,
    chunk: Int = 0,
): Flow<R> {
    checkLimit(limit)
    if (maxFailures != null) checkMaxFailures(maxFailures)
    return flow {
        val places = Semaphore(minOf(chunk.toLong() + limit, Int.MAX_VALUE.toLong()).toInt())
        val sourcePlaces = if (weight == null) places else null
        val emissions = Emissions(ordered, chunk, places)
        val core = MapCore(emissions, settling = maxFailures != null, maxFailures ?: Int.MAX_VALUE)
        val workers = MapWorkers(core, source(sourcePlaces), limit, weight, cancelRunning, places, transform)
        workers.run { emissions.emitTo(this, core) }
    }
}

/** A worker is a place, so only weights need more. */
private fun placesFor(limit: Int, weight: Any?) = if (weight == null) null else Semaphore(limit)
