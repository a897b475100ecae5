package baton.parallel

import baton.parallel.core.FlowSource
import baton.parallel.core.IteratorSource
import baton.parallel.core.forEach
import kotlinx.coroutines.flow.Flow

/**
 * Calls [action] for each element, of which at most [limit] run at the same time. As [mapLimit] without results: it
 * keeps nothing of an element that has ended, so the source may be of any length.
 *
 * ```
 * urls.forEachLimit(5) { save(fetch(it)) }
 * ```
 *
 * Waiting, order, failure, cancellation, memory and misuse are those of [mapLimit].
 *
 * @param cancelRunning whether the first failure cancels the running actions.
 * @param weight how many of the [limit] places an element takes, from 1 to [limit].
 * @throws IllegalArgumentException if [limit] or a weight is out of its range.
 */
public suspend fun <T> Iterable<T>.forEachLimit(
    limit: Int,
    cancelRunning: Boolean = false,
    weight: ((T) -> Int)? = null,
    action: suspend (T) -> Unit,
): Unit = forEach({ IteratorSource(iterator()) }, limit, cancelRunning, weight, action)

/** As [forEachLimit] of an Iterable. The sequence may be infinite. */
public suspend fun <T> Sequence<T>.forEachLimit(
    limit: Int,
    cancelRunning: Boolean = false,
    weight: ((T) -> Int)? = null,
    action: suspend (T) -> Unit,
): Unit = forEach({ IteratorSource(iterator()) }, limit, cancelRunning, weight, action)

/**
 * As [forEachLimit] of an Iterable; collects the flow, in a child of the caller. The flow may have produced one element
 * more than are in flight. A flow that is suspended when an element fails is cancelled.
 */
public suspend fun <T> Flow<T>.forEachLimit(
    limit: Int,
    cancelRunning: Boolean = false,
    weight: ((T) -> Int)? = null,
    action: suspend (T) -> Unit,
): Unit = forEach({ FlowSource(this) }, limit, cancelRunning, weight, action)
