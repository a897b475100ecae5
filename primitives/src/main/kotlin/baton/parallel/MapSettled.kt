package baton.parallel

import baton.parallel.core.FlowSource
import baton.parallel.core.mapFlow
import baton.parallel.core.settle
import kotlinx.coroutines.flow.Flow

/**
 * Maps the elements by [transform], of which at most [limit] run at the same time, and returns how each of them ended:
 * the outcome of element n has index n. A failure of the transform, an [Error] included, is an outcome and not thrown.
 *
 * ```
 * val outcomes = urls.mapSettled(limit = 5, maxFailures = 1) { fetch(it) }
 * val pages = outcomes.mapNotNull { it.getOrNull() }
 * ```
 *
 * *Waiting.* As [mapLimit]: elements are pulled one at a time, when there is a place for them.
 *
 * *Order.* That of the source.
 *
 * *Failure.* After [maxFailures] outcomes of [Outcome.Failure] no further element is started, and running transforms
 * are awaited. The rest of the elements is then read from the source, and each of them is [Outcome.NotStarted]. A
 * failure of the source or of [weight] is thrown when the running transforms have ended; there are no outcomes then.
 *
 * *Cancellation.* A CancellationException of the transform's own, while the caller is active, is [Outcome.Cancelled],
 * which does not count as a failure. If the caller is cancelled, running transforms are cancelled too, and the call
 * throws when all of them have ended.
 *
 * *Memory* and *misuse* are those of [mapLimit]; a [maxFailures] below 1 is refused, too.
 *
 * @param weight how many of the [limit] places an element takes, from 1 to [limit].
 * @throws IllegalArgumentException if [limit], [maxFailures] or a weight is out of its range.
 */
public suspend fun <T, R> Iterable<T>.mapSettled(
    limit: Int,
    maxFailures: Int = Int.MAX_VALUE,
    weight: ((T) -> Int)? = null,
    transform: suspend (T) -> R,
): List<Outcome<R>> = settle(this::iterator, limit, maxFailures, weight, complete = true, transform)

/**
 * As [mapSettled] of an Iterable, but after [maxFailures] failures nothing more is read from the sequence: the list
 * ends with the last element that was started.
 */
public suspend fun <T, R> Sequence<T>.mapSettled(
    limit: Int,
    maxFailures: Int = Int.MAX_VALUE,
    weight: ((T) -> Int)? = null,
    transform: suspend (T) -> R,
): List<Outcome<R>> = settle(this::iterator, limit, maxFailures, weight, complete = false, transform)

/**
 * As [mapSettled] of an Iterable, but the result is a cold flow, whose waiting and cancellation are those of [mapLimit]
 * of a flow. After [maxFailures] failures the source is cancelled, and the flow ends with the last element that was
 * started.
 */
public fun <T, R> Flow<T>.mapSettled(
    limit: Int,
    maxFailures: Int = Int.MAX_VALUE,
    weight: ((T) -> Int)? = null,
    transform: suspend (T) -> R,
): Flow<Outcome<R>> =
    mapFlow({ FlowSource(this, it) }, limit, ordered = true, cancelRunning = false, maxFailures, weight, transform)
