package baton.bridge

import baton.InternalBatonApi
import baton.parallel.ListResults
import baton.parallel.MapCore
import baton.parallel.NoResults
import baton.parallel.OrderedResults
import baton.parallel.Outcome

/**
 * The core of a parallel map over stages: [start] and [exhaust] are called by one puller at a time, the others by any
 * thread, and each element that was started has one end.
 *
 * @param listed whether the results are wanted.
 * @param settling whether each result is an [Outcome], and [maxFailures] failures stop the map instead of the first.
 */
@InternalBatonApi
public class ElementMap(listed: Boolean, settling: Boolean, maxFailures: Int) {
    private val list: ListResults? = if (listed) OrderedResults() else null
    private val core = MapCore(list ?: NoResults, settling, maxFailures)

    public val isOpen: Boolean
        get() = core.isOpen

    public val isOver: Boolean
        get() = core.isOver

    public val isExhausted: Boolean
        get() = core.isExhausted

    public val inFlight: Int
        get() = core.inFlight

    /** Starts the element that was pulled last, and returns its index; -1 after a stop. */
    public fun start(): Int = if (core.start()) core.results.reserve() else -1

    public fun exhaust(): Unit = core.exhaust()

    public fun succeed(index: Int, value: Any?): Unit = core.succeed(index, 1, value)

    public fun fail(index: Int, cause: Throwable) {
        core.fail(index, 1, cause)
    }

    public fun cancel(index: Int, cause: Throwable) {
        core.cancel(index, 1, cause)
    }

    /** The source has failed, or nobody wants the results any more. */
    public fun abandon(cause: Throwable) {
        core.abandon(cause)
    }

    /** The first failure with the others suppressed in it, when the map is over. */
    public fun failure(): Throwable? = core.failure()

    /** The results by index when the map is over, and null if they are not wanted. */
    public fun results(notStarted: Int): List<Any?>? {
        val results = list?.toList() ?: return null
        repeat(notStarted) { results += Outcome.NotStarted }
        return results
    }
}
