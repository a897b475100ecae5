package baton.scheduler

import baton.Priority
import baton.scheduler.dispatch.BoundedSelector
import baton.scheduler.dispatch.LevelSelector
import baton.scheduler.dispatch.SharesSelector
import baton.scheduler.dispatch.StrictSelector
import baton.waiting.BoundedBypass

/** Selects which of the levels that have work is next. Inside a level the order is always first come, first served. */
public sealed class PriorityPolicy {
    internal abstract fun newSelector(): LevelSelector

    /**
     * Always the most urgent level first: while it has work, all others wait, if necessary for ever. Prefer [Bounded],
     * unless the upper levels are certain to run out of work.
     */
    public object Strict : PriorityPolicy() {
        override fun newSelector(): LevelSelector = StrictSelector

        override fun toString(): String = "Strict"
    }

    /**
     * The most urgent level first, with bounded bypass: a level that has work and has been passed over as often as
     * given here is next. If several levels reach their bounds at the same time, they are picked up to three picks
     * earlier, so that the bound is exact for all. The picks of all workers of a dispatcher count together.
     *
     * A view by [PriorityDispatcher.limitedParallelism] has a count of its own: it, too, passes the head of a level
     * over at most as often as given here. But for each of its own picks the view is queued in the dispatcher, at the
     * most urgent level that waits in it, and may be passed over there as a block of that level may. So in picks of the
     * dispatcher the two bounds multiply.
     *
     * With the defaults CRITICAL keeps at least 97 % of all picks. No clock is read, so the bound holds in virtual
     * time.
     *
     * Each bound is at least [MIN_BOUND]: with less, several levels that reach their bounds together could not all be
     * picked in time.
     *
     * @throws IllegalArgumentException if a bound is below that.
     */
    public class Bounded(
        public val high: Int = BoundedBypass.BYPASS[1],
        public val normal: Int = BoundedBypass.BYPASS[2],
        public val low: Int = BoundedBypass.BYPASS[3],
        public val idle: Int = BoundedBypass.BYPASS[4],
    ) : PriorityPolicy() {
        private val limits = intArrayOf(Int.MAX_VALUE, high, normal, low, idle)

        init {
            for (priority in Priority.entries) {
                val limit = limits[priority.ordinal]
                require(limit >= MIN_BOUND) { "bound of $priority = $limit, must be at least $MIN_BOUND" }
            }
        }

        /**
         * How often a level may be passed over. For CRITICAL that is `Int.MAX_VALUE`: it is passed over only for levels
         * that have reached their bounds.
         */
        public fun of(priority: Priority): Int = limits[priority.ordinal]

        override fun newSelector(): LevelSelector = BoundedSelector(limits)

        override fun toString(): String = "Bounded($high/$normal/$low/$idle)"

        /** The range of a bound. */
        public companion object {
            /** The least bound, 3: so many other levels may reach their bounds at the same time. */
            public const val MIN_BOUND: Int = BoundedBypass.MIN_BYPASS

            /** The policy of a dispatcher or scheduler that is given none. */
            @get:JvmSynthetic internal val DEFAULT = Bounded()
        }
    }

    /**
     * Each level that has work gets its share of the picks, in proportion to these weights: stride scheduling
     * (Waldspurger and Weihl, 1995). A level without work saves up no picks. For dividing throughput between tenants;
     * where urgent work must run *now*, use [Bounded].
     *
     * Weights are from 1 to [MAX_WEIGHT].
     *
     * @throws IllegalArgumentException if a weight is out of range.
     */
    public class Shares(
        public val critical: Int = 1000,
        public val high: Int = 400,
        public val normal: Int = 100,
        public val low: Int = 40,
        public val idle: Int = 10,
    ) : PriorityPolicy() {
        private val weights = intArrayOf(critical, high, normal, low, idle)

        init {
            for (priority in Priority.entries) {
                val weight = weights[priority.ordinal]
                require(weight in 1..MAX_WEIGHT) { "weight of $priority = $weight, must be within 1..$MAX_WEIGHT" }
            }
        }

        override fun newSelector(): LevelSelector = SharesSelector(weights)

        override fun toString(): String = "Shares($critical/$high/$normal/$low/$idle)"

        /** The range of a weight. */
        public companion object {
            /** The greatest weight: up to it, rounding changes a share by less than a millionth. */
            public const val MAX_WEIGHT: Int = 1_000_000
        }
    }
}
