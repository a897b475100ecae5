@file:Suppress("NEWER_VERSION_IN_SINCE_KOTLIN")

package baton.scheduler

import baton.Priority
import java.time.Duration as JavaDuration
import kotlin.time.Duration
import kotlin.time.toJavaDuration

/**
 * A snapshot of the counters of a [PriorityDispatcher]. Its numbers are exact and consistent.
 *
 * A view by [PriorityDispatcher.limitedParallelism] has metrics of its own. A view by [PriorityDispatcher.level] shares
 * those of the dispatcher of which it is a view.
 *
 * @property workers how many of its workers run or are about to; for a limited view, how many of its workers run or are
 *   queued in the dispatcher.
 */
public class DispatcherMetrics internal constructor(public val workers: Int, private val levels: List<OfLevel>) {
    public operator fun get(priority: Priority): OfLevel = levels[priority.ordinal]

    /**
     * @property queued how many blocks are queued. Blocks of a limited view count in the view's metrics. Here the
     *   view's queued workers count: in each level at most as many as its parallelism, of which some may not be needed
     *   any more.
     * @property picked how many blocks, and workers of limited views, were picked.
     * @property outOfTurn how many of them were picked although a more urgent level had work.
     * @property sampledWaits how many waits were measured: about one in 64.
     * @property meanWait of the measured waits, from the dispatch to the start, in real time even if the underlying
     *   dispatcher's time is virtual.
     * @property longestWait of the measured waits.
     */
    public class OfLevel
    internal constructor(
        public val queued: Int,
        public val picked: Long,
        public val outOfTurn: Long,
        public val sampledWaits: Long,
        public val meanWait: Duration,
        public val longestWait: Duration,
    ) {
        /** [meanWait] for Java. */
        @SinceKotlin(FOR_JAVA_ALONE) public fun meanWait(): JavaDuration = meanWait.toJavaDuration()

        /** [longestWait] for Java. */
        @SinceKotlin(FOR_JAVA_ALONE) public fun longestWait(): JavaDuration = longestWait.toJavaDuration()

        override fun toString(): String =
            "queued = $queued, picked = $picked, out of turn = $outOfTurn, mean wait = $meanWait"
    }

    override fun toString(): String = Priority.entries.joinToString("; ", "workers = $workers; ") { "$it: ${get(it)}" }
}
