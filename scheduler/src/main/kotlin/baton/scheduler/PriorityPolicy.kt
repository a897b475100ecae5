package baton.scheduler

import baton.Priority
import baton.scheduler.dispatch.BoundedPicker
import baton.scheduler.dispatch.LevelSelector
import baton.scheduler.dispatch.SharesPicker
import baton.scheduler.dispatch.StrictPicker
import baton.waiting.BoundedBypass

/** Which of the levels that have something to run is next. Inside a level it is always first come, first served. */
public sealed class PriorityPolicy {
    internal abstract fun picker(): LevelSelector

    /**
     * The most urgent level first, always: while it has work, all others wait, for ever if need be. Prefer [Bounded],
     * unless it is certain that the upper levels come to rest.
     */
    public object Strict : PriorityPolicy() {
        override fun picker(): LevelSelector = StrictPicker

        override fun toString(): String = "Strict"
    }

    /**
     * The most urgent level first, but none is passed over without end: a level that has work and has been passed over
     * as often as given here has the next turn. When several levels come to their bound at the same time, they have
     * their turns up to three picks earlier, so that the bound is exact for all. Each worker counts for itself: in a
     * dispatcher of `n` workers, the head of a level runs within `n` times as many picks of others.
     *
     * A view by [PriorityDispatcher.limitedParallelism] has one count for all its places: it passes the head of a level
     * over as often as given here at most. But for each of its own picks the view stands in line in the dispatcher as a
     * block of the most urgent level that waits in it does, and may be passed over there, too. So counted in picks of
     * the dispatcher the two multiply.
     *
     * With the defaults CRITICAL keeps 97 % of all picks at worst. No clock is read, so the bound holds in virtual
     * time.
     *
     * Each bound is at least [MIN_BOUND]: with less, several levels could not have their turns in time.
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
                require(limit >= MIN_BOUND) { "the bound of $priority must be at least $MIN_BOUND, was $limit" }
            }
        }

        /**
         * How often a level may be passed over. For CRITICAL that is `Int.MAX_VALUE`: it is passed over for those alone
         * whose turn must come.
         */
        public fun of(priority: Priority): Int = limits[priority.ordinal]

        override fun picker(): LevelSelector = BoundedPicker(limits)

        override fun toString(): String = "Bounded($high/$normal/$low/$idle)"

        /** What a bound may be. */
        public companion object {
            /** The least bound, 3: so many other levels may come to theirs at the same time. */
            public const val MIN_BOUND: Int = BoundedBypass.MIN_BYPASS
        }
    }

    /**
     * Each level that has work gets its share of the picks, in the proportion of these weights: stride scheduling
     * (Waldspurger and Weihl, 1995). A level that had nothing to do saves nothing up. For throughput between tenants;
     * where something must run *now*, [Bounded] is right.
     *
     * Weights are from 1 to [MAX_WEIGHT].
     *
     * @throws IllegalArgumentException if a weight is out of its bounds.
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
                require(weight in 1..MAX_WEIGHT) {
                    "the weight of $priority must be from 1 to $MAX_WEIGHT, was $weight"
                }
            }
        }

        override fun picker(): LevelSelector = SharesPicker(weights)

        override fun toString(): String = "Shares($critical/$high/$normal/$low/$idle)"

        /** What a weight may be. */
        public companion object {
            /** The greatest weight: up to it, rounding changes a share by less than a millionth. */
            public const val MAX_WEIGHT: Int = 1_000_000
        }
    }
}
