package baton.parallel

import baton.parallel.core.FlowSource
import baton.parallel.core.mapFlow
import baton.parallel.core.mapToList
import kotlinx.coroutines.flow.Flow

/**
 * Maps the elements by [transform], of which at most [limit] run at the same time, and returns the results.
 *
 * Use it where the work of one element waits for something: a server, a database, a file. For computations a limit
 * above the number of processors gains nothing.
 *
 * ```
 * val pages = urls.mapLimit(5) { fetch(it) }
 * val heavy = urls.mapLimit(10, weight = { if (it.endsWith(".pdf")) 5 else 1 }) { fetch(it) }
 * ```
 *
 * *Waiting.* Suspends until every element that was started has ended. The elements run in child coroutines of the
 * caller, in its context. An element is pulled from the source only when there is a place for it, by one coroutine at a
 * time: of an infinite source no more is read than is mapped. One coroutine maps many elements; a transform that
 * returns at once, on one thread, is called in a plain loop.
 *
 * *Order.* Elements are started in the order of the source. On several threads, or on a dispatcher that runs tasks in
 * place, two transforms may be called the other way round. The results are in the order of the source; with [ordered]
 * false they are in the order in which the elements ended.
 *
 * *Failure.* The first failure stops the pulling. Running transforms are awaited, or with [cancelRunning] cancelled and
 * awaited; then that failure is thrown, the same object, with later failures suppressed in it, such as exceptions of
 * clean-ups. A failure of the source or of [weight] counts like one of the transform, and so does a
 * CancellationException of the transform's own, that of `withTimeout` included.
 *
 * *Cancellation.* Prompt: when the caller is cancelled nothing is pulled any more, running transforms are cancelled,
 * and the call throws when all of them have ended. Failures so far are suppressed in the exception. A transform that
 * cancels the job of its own coroutine ends only this element.
 *
 * *Memory.* Actions before the call happen before the first pull; each pull happens before the next one and before the
 * transform of its element; all of them happen before the call returns or throws. So the source need not be
 * thread-safe. The results take the memory of a list; [limit] costs none.
 *
 * *Misuse.* A [limit] below 1 is refused before anything is pulled. A weight below 1 or above [limit] fails the call. A
 * transform that waits for an element behind it in the source may wait for ever.
 *
 * @param ordered whether the results are in the order of the source.
 * @param cancelRunning whether the first failure cancels the running transforms.
 * @param weight how many of the [limit] places an element takes, from 1 to [limit]; called once for each, by the
 *   pulling coroutine. An element that weighs more than is free waits, and those behind it with it.
 * @throws IllegalArgumentException if [limit] or a weight is out of its range.
 */
public suspend fun <T, R> Iterable<T>.mapLimit(
    limit: Int,
    ordered: Boolean = true,
    cancelRunning: Boolean = false,
    weight: ((T) -> Int)? = null,
    transform: suspend (T) -> R,
): List<R> = mapToList(this::iterator, limit, ordered, cancelRunning, weight, transform)

/** As [mapLimit] of an Iterable. The sequence may be infinite; then only a failure or a cancellation ends the call. */
public suspend fun <T, R> Sequence<T>.mapLimit(
    limit: Int,
    ordered: Boolean = true,
    cancelRunning: Boolean = false,
    weight: ((T) -> Int)? = null,
    transform: suspend (T) -> R,
): List<R> = mapToList(this::iterator, limit, ordered, cancelRunning, weight, transform)

/**
 * As [mapLimit] of an Iterable, but the result is a cold flow: each collection maps the elements anew.
 *
 * ```
 * urls.asFlow().mapLimit(5) { fetch(it) }.collect { page -> save(page) }
 * ```
 *
 * *Waiting.* At most [limit] elements run or wait to be emitted, beside the one that is being emitted: a slow collector
 * holds up everything. The source may have produced one element more. Results are emitted in the collector's coroutine;
 * source and transforms run in children of it, in its context.
 *
 * *Order.* As there; with [ordered], one slow element holds up those behind it.
 *
 * *Failure.* As there. The results that have come or still come are emitted before it is thrown; with [ordered] only
 * those in front of the first element without a result. A source that is suspended when an element fails is cancelled.
 *
 * *Cancellation.* As there. A collector that ends early (`first()`, `take`) or fails cancels the source and the running
 * transforms, and waits for both.
 */
public fun <T, R> Flow<T>.mapLimit(
    limit: Int,
    ordered: Boolean = true,
    cancelRunning: Boolean = false,
    weight: ((T) -> Int)? = null,
    transform: suspend (T) -> R,
): Flow<R> = mapFlow({ FlowSource(this, it) }, limit, ordered, cancelRunning, maxFailures = null, weight, transform)
