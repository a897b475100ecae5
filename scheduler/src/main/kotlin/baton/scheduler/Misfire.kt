package baton.scheduler

/**
 * The policy for due times that passed while [Schedule.run] did not run, or because the clock jumped: how many runs
 * make up for them. A run that is late by less than its period misses nothing, and is no misfire.
 *
 * Under every policy the next due times are those of the trigger from now on.
 */
public sealed interface Misfire {
    /** One run for all of them, at once. [Due.missed] counts the others. */
    public object FireOnce : Misfire {
        override fun toString(): String = "FireOnce"
    }

    /** No run. [ScheduleMetrics.skipped] counts them. */
    public object Skip : Misfire {
        override fun toString(): String = "Skip"
    }

    /**
     * Up to [max] runs, for the earliest of them, one after another, under every [Overlap]. [Due.missed] of the first
     * run counts the due times beyond [max]. Due times of a trigger of your own are counted up to 100.
     *
     * @property max at least 1.
     * @throws IllegalArgumentException if it is less.
     */
    public class CatchUp(public val max: Int) : Misfire {
        init {
            require(max >= 1) { "max = $max, must be at least 1" }
        }

        override fun equals(other: Any?): Boolean = other is CatchUp && max == other.max

        override fun hashCode(): Int = max

        override fun toString(): String = "CatchUp(max=$max)"
    }
}
