package baton.parallel.contract

import baton.parallel.Outcome
import baton.parallel.forEachLimit
import baton.parallel.mapLimit
import baton.parallel.mapSettled
import kotlinx.coroutines.flow.asFlow
import kotlinx.coroutines.flow.toList

/** One kind of source under the contract of the maps. */
interface MapFace {
    /** How many elements the source may produce beyond those in flight. */
    val ahead: Int
        get() = 0

    /** Whether elements that were not started have an outcome each; else the outcomes end before them. */
    val settlesRest: Boolean
        get() = false

    suspend fun <T, R> mapLimit(
        elements: Sequence<T>,
        limit: Int,
        ordered: Boolean = true,
        cancelRunning: Boolean = false,
        weight: ((T) -> Int)? = null,
        transform: suspend (T) -> R,
    ): List<R>

    suspend fun <T, R> mapSettled(
        elements: Sequence<T>,
        limit: Int,
        maxFailures: Int = Int.MAX_VALUE,
        weight: ((T) -> Int)? = null,
        transform: suspend (T) -> R,
    ): List<Outcome<R>>

    suspend fun <T> forEachLimit(
        elements: Sequence<T>,
        limit: Int,
        cancelRunning: Boolean = false,
        weight: ((T) -> Int)? = null,
        action: suspend (T) -> Unit,
    )
}

object IterableFace : MapFace {
    override val settlesRest
        get() = true

    override suspend fun <T, R> mapLimit(
        elements: Sequence<T>,
        limit: Int,
        ordered: Boolean,
        cancelRunning: Boolean,
        weight: ((T) -> Int)?,
        transform: suspend (T) -> R,
    ) = elements.asIterable().mapLimit(limit, ordered, cancelRunning, weight, transform)

    override suspend fun <T, R> mapSettled(
        elements: Sequence<T>,
        limit: Int,
        maxFailures: Int,
        weight: ((T) -> Int)?,
        transform: suspend (T) -> R,
    ) = elements.asIterable().mapSettled(limit, maxFailures, weight, transform)

    override suspend fun <T> forEachLimit(
        elements: Sequence<T>,
        limit: Int,
        cancelRunning: Boolean,
        weight: ((T) -> Int)?,
        action: suspend (T) -> Unit,
    ) = elements.asIterable().forEachLimit(limit, cancelRunning, weight, action)
}

object SequenceFace : MapFace {
    override suspend fun <T, R> mapLimit(
        elements: Sequence<T>,
        limit: Int,
        ordered: Boolean,
        cancelRunning: Boolean,
        weight: ((T) -> Int)?,
        transform: suspend (T) -> R,
    ) = elements.mapLimit(limit, ordered, cancelRunning, weight, transform)

    override suspend fun <T, R> mapSettled(
        elements: Sequence<T>,
        limit: Int,
        maxFailures: Int,
        weight: ((T) -> Int)?,
        transform: suspend (T) -> R,
    ) = elements.mapSettled(limit, maxFailures, weight, transform)

    override suspend fun <T> forEachLimit(
        elements: Sequence<T>,
        limit: Int,
        cancelRunning: Boolean,
        weight: ((T) -> Int)?,
        action: suspend (T) -> Unit,
    ) = elements.forEachLimit(limit, cancelRunning, weight, action)
}

object FlowFace : MapFace {
    override val ahead
        get() = 1

    override suspend fun <T, R> mapLimit(
        elements: Sequence<T>,
        limit: Int,
        ordered: Boolean,
        cancelRunning: Boolean,
        weight: ((T) -> Int)?,
        transform: suspend (T) -> R,
    ) = elements.asFlow().mapLimit(limit, ordered, cancelRunning, weight, transform).toList()

    override suspend fun <T, R> mapSettled(
        elements: Sequence<T>,
        limit: Int,
        maxFailures: Int,
        weight: ((T) -> Int)?,
        transform: suspend (T) -> R,
    ) = elements.asFlow().mapSettled(limit, maxFailures, weight, transform).toList()

    override suspend fun <T> forEachLimit(
        elements: Sequence<T>,
        limit: Int,
        cancelRunning: Boolean,
        weight: ((T) -> Int)?,
        action: suspend (T) -> Unit,
    ) = elements.asFlow().forEachLimit(limit, cancelRunning, weight, action)
}
