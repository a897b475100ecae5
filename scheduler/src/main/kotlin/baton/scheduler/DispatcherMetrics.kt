package baton.scheduler

import baton.Priority
import kotlin.time.Duration

/**
 * What a [PriorityDispatcher] has done so far, and what it is doing: a snapshot, in which numbers that change meanwhile
 * may not fit together exactly.
 *
 * A view by [PriorityDispatcher.limitedParallelism] has metrics of its own, a view by [PriorityDispatcher.level] shares
 * those of what it is a view of.
 *
 * @property workers how many of its workers run or are about to; of a limited view, how many of its places in the
 *   dispatcher run or wait for their turn there.
 */
public class DispatcherMetrics internal constructor(
    public val workers: Int,
    private val levels: List<OfLevel>,
) {
    public operator fun get(priority: Priority): OfLevel = levels[priority.ordinal]

    /**
     * @property queued how many blocks wait for their turn; counted anew, in time proportional to them. What waits in a
     *   limited view counts there. Here count the places for which it stands in line: at most as many in each level as
     *   its parallelism, of which some may not be needed any more.
     * @property picked how many blocks have had their turn, and how many places of limited views. Workers add what they
     *   have picked when they turn to another level, go behind others, or leave.
     * @property outOfTurn how many of them were picked although a more urgent level had work.
     * @property sampledWaits how many waits were measured: about one in 64.
     * @property meanWait of those measured, from the dispatch to the start, in real time also where the time of the
     *   dispatcher underneath is virtual.
     * @property longestWait of those measured.
     */
    public class OfLevel internal constructor(
        public val queued: Int,
        public val picked: Long,
        public val outOfTurn: Long,
        public val sampledWaits: Long,
        public val meanWait: Duration,
        public val longestWait: Duration,
    ) {
        override fun toString(): String =
            "queued = $queued, picked = $picked, out of turn = $outOfTurn, mean wait = $meanWait"
    }

    override fun toString(): String =
        Priority.entries.joinToString("; ", "workers = $workers; ") { "$it: ${get(it)}" }
}
