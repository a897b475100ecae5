package baton.scheduler

import baton.Priority
import kotlin.time.Duration

/**
 * What a [PriorityDispatcher] has done so far, and what it is doing: a snapshot, in which numbers that change meanwhile
 * may not fit together exactly.
 *
 * @property workers how many of its workers run or are about to.
 */
public class DispatcherMetrics internal constructor(
    public val workers: Int,
    private val levels: List<OfLevel>,
) {
    public operator fun get(priority: Priority): OfLevel = levels[priority.ordinal]

    /**
     * @property queued how many blocks wait for their turn; counted anew, in time proportional to them.
     * @property picked how many blocks have had their turn. Workers add what they have picked when they go behind
     *   others or have nothing left.
     * @property overdue how many of them were picked although a more urgent level had work.
     * @property sampledWaits how many waits were measured: about one in 64.
     * @property meanWait of those measured, from the dispatch to the start, in real time also where the time of the
     *   dispatcher underneath is virtual.
     * @property longestWait of those measured.
     */
    public class OfLevel internal constructor(
        public val queued: Int,
        public val picked: Long,
        public val overdue: Long,
        public val sampledWaits: Long,
        public val meanWait: Duration,
        public val longestWait: Duration,
    ) {
        override fun toString(): String =
            "queued = $queued, picked = $picked, overdue = $overdue, mean wait = $meanWait"
    }

    override fun toString(): String =
        Priority.entries.joinToString("; ", "workers = $workers; ") { "$it: ${get(it)}" }
}
