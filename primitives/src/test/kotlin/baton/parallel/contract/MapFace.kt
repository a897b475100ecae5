package baton.parallel.contract

import baton.parallel.Outcome
import baton.parallel.forEachLimit
import baton.parallel.mapLimit
import baton.parallel.mapSettled
import kotlinx.coroutines.flow.asFlow
import kotlinx.coroutines.flow.toList

/** The source and the options of a call. */
class MapCall<T>(
    val elements: Sequence<T>,
    val limit: Int,
    val ordered: Boolean = true,
    val cancelRunning: Boolean = false,
    val maxFailures: Int = Int.MAX_VALUE,
    val weight: ((T) -> Int)? = null,
)

/** One kind of source under the contract of the maps. */
interface MapFace {
    /** How many elements the source may produce beyond those in flight. */
    val ahead: Int
        get() = 0

    /** Whether elements that were not started have an outcome each; else the outcomes end before them. */
    val settlesRest: Boolean
        get() = false

    suspend fun <T, R> mapLimit(call: MapCall<T>, transform: suspend (T) -> R): List<R>

    suspend fun <T, R> mapSettled(call: MapCall<T>, transform: suspend (T) -> R): List<Outcome<R>>

    suspend fun <T> forEachLimit(call: MapCall<T>, action: suspend (T) -> Unit)

    suspend fun <T, R> mapLimit(
        elements: Sequence<T>,
        limit: Int,
        ordered: Boolean = true,
        cancelRunning: Boolean = false,
        weight: ((T) -> Int)? = null,
        transform: suspend (T) -> R,
    ): List<R> = mapLimit(MapCall(elements, limit, ordered, cancelRunning, weight = weight), transform)

    suspend fun <T, R> mapSettled(
        elements: Sequence<T>,
        limit: Int,
        maxFailures: Int = Int.MAX_VALUE,
        weight: ((T) -> Int)? = null,
        transform: suspend (T) -> R,
    ): List<Outcome<R>> = mapSettled(MapCall(elements, limit, maxFailures = maxFailures, weight = weight), transform)

    suspend fun <T> forEachLimit(
        elements: Sequence<T>,
        limit: Int,
        cancelRunning: Boolean = false,
        weight: ((T) -> Int)? = null,
        action: suspend (T) -> Unit,
    ): Unit = forEachLimit(MapCall(elements, limit, cancelRunning = cancelRunning, weight = weight), action)
}

object IterableFace : MapFace {
    override val settlesRest
        get() = true

    override suspend fun <T, R> mapLimit(call: MapCall<T>, transform: suspend (T) -> R) =
        with(call) { elements.asIterable().mapLimit(limit, ordered, cancelRunning, weight, transform) }

    override suspend fun <T, R> mapSettled(call: MapCall<T>, transform: suspend (T) -> R) =
        with(call) { elements.asIterable().mapSettled(limit, maxFailures, weight, transform) }

    override suspend fun <T> forEachLimit(call: MapCall<T>, action: suspend (T) -> Unit) =
        with(call) { elements.asIterable().forEachLimit(limit, cancelRunning, weight, action) }
}

object SequenceFace : MapFace {
    override suspend fun <T, R> mapLimit(call: MapCall<T>, transform: suspend (T) -> R) =
        with(call) { elements.mapLimit(limit, ordered, cancelRunning, weight, transform) }

    override suspend fun <T, R> mapSettled(call: MapCall<T>, transform: suspend (T) -> R) =
        with(call) { elements.mapSettled(limit, maxFailures, weight, transform) }

    override suspend fun <T> forEachLimit(call: MapCall<T>, action: suspend (T) -> Unit) =
        with(call) { elements.forEachLimit(limit, cancelRunning, weight, action) }
}

object FlowFace : MapFace {
    override val ahead
        get() = 1

    override suspend fun <T, R> mapLimit(call: MapCall<T>, transform: suspend (T) -> R) =
        with(call) { elements.asFlow().mapLimit(limit, ordered, cancelRunning, weight, transform).toList() }

    override suspend fun <T, R> mapSettled(call: MapCall<T>, transform: suspend (T) -> R) =
        with(call) { elements.asFlow().mapSettled(limit, maxFailures, weight, transform).toList() }

    override suspend fun <T> forEachLimit(call: MapCall<T>, action: suspend (T) -> Unit) =
        with(call) { elements.asFlow().forEachLimit(limit, cancelRunning, weight, action) }
}
