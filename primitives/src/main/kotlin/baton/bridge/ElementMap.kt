package baton.bridge

import baton.InternalBatonApi
import baton.parallel.Outcome
import baton.parallel.core.ListResults
import baton.parallel.core.MapCore
import baton.parallel.core.NoResults
import baton.parallel.core.OrderedResults
import baton.parallel.core.ReadyResults
import baton.parallel.core.Results

/**
 * The core of a parallel map over stages: [start] and [exhaust] are called by one puller at a time, the others by any
 * thread, and each element that was started has one end. An [Error] for want of memory or stack stops the map as a
 * failure does.
 */
@InternalBatonApi
public class ElementMap private constructor(private val results: Results, settling: Boolean, maxFailures: Int) {
    private val core = MapCore(results, settling, maxFailures)

    public val isOpen: Boolean
        get() = core.isOpen

    public val isOver: Boolean
        get() = core.isOver

    public val isExhausted: Boolean
        get() = core.isExhausted

    public val isStopped: Boolean
        get() = core.isStopped

    public val inFlight: Int
        get() = core.inFlight

    /** Starts the element that was pulled last, and returns its index; -1 if it must not be started. */
    public fun start(): Int {
        if (!core.start()) return -1
        try {
            return core.results.reserve()
        } catch (e: Throwable) {
            abandonElement(e)
            return -1
        }
    }

    public fun exhaust(): Unit = core.exhaust()

    public fun succeed(index: Int, value: Any?): Unit = end { core.succeed(index, 1, value) }

    public fun fail(index: Int, cause: Throwable): Unit = end { core.fail(index, 1, cause) }

    public fun cancel(index: Int, cause: Throwable): Unit = end { core.cancel(index, 1, cause) }

    /** Only the storing of the result can throw: then the element has not ended. */
    private inline fun end(how: () -> Any) {
        try {
            how()
        } catch (e: Throwable) {
            abandonElement(e)
        }
    }

    private fun abandonElement(cause: Throwable) {
        core.abandon(cause)
        core.drop()
    }

    /** The source has failed, or the caller has given up the results. */
    public fun abandon(cause: Throwable) {
        core.abandon(cause)
    }

    /** The first failure with the others suppressed in it, when the map is over. */
    public fun failure(): Throwable? = core.failure()

    /** The results by index when the map is over, and null if they are not kept. */
    public fun results(notStarted: Int): List<Any?>? {
        val all = (results as? ListResults)?.toList() ?: return null
        repeat(notStarted) { all += Outcome.NotStarted }
        return all
    }

    /** Whether [pollChunk] returns a chunk. */
    public fun hasChunk(rest: Boolean): Boolean = (results as ReadyResults).isReady(rest)

    /** The next chunk, null if it is not complete. With [rest], when the map is over, it may be shorter. */
    public fun pollChunk(rest: Boolean): List<Any?>? = (results as ReadyResults).poll(rest) as? List<*>

    public companion object {
        /**
         * A map whose results come all at once.
         *
         * @param listed whether the results are kept.
         * @param settling whether each is an [Outcome], and [maxFailures] failures stop the map instead of the first.
         */
        @JvmStatic
        public fun ofList(listed: Boolean, settling: Boolean, maxFailures: Int): ElementMap =
            ElementMap(if (listed) OrderedResults() else NoResults, settling, maxFailures)

        /** A map whose results come in chunks of [size], in the order of the source. */
        @JvmStatic
        public fun ofChunks(size: Int): ElementMap =
            ElementMap(ReadyResults(ordered = true, size), false, Int.MAX_VALUE)
    }
}
