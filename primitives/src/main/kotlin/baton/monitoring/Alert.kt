package baton.monitoring

/**
 * A condition of a watched object has held for a while ([raised]), or has no longer held for a while.
 *
 * @property kind the condition.
 * @property source the name of the watched object; for [Kind.DEADLOCK] the locks of the cycle.
 * @property value the value at that look: seconds for [Kind.LONGEST_WAIT] and [Kind.LONGEST_RUN], otherwise a share of
 *   the capacity; for [Kind.BREAKER_OPEN] and [Kind.DEADLOCK] 1.0 while it is so, else 0.0.
 * @property bound the bound that the value reached when the alert is raised, or fell below when it is cleared.
 * @property raised whether it is raised; false when it is cleared.
 * @property usage the usage at the look that raised or cleared it; null for [Kind.DEADLOCK].
 */
public class Alert(
    public val kind: Kind,
    public val source: String,
    public val value: Double,
    public val bound: Double,
    public val raised: Boolean,
    public val usage: Usage?,
) {
    override fun toString(): String {
        val seen = if (usage == null) "" else " ($usage)"
        return "$kind of $source ${if (raised) "raised" else "cleared"}: $value, bound = $bound$seen"
    }

    /** The condition of an alert. */
    public enum class Kind {
        /** The share in use is at or above [AlertRules.utilisation]. */
        UTILISATION,

        /** A caller waits for [AlertRules.longestWait] or longer. */
        LONGEST_WAIT,

        /** A task, or a run of a schedule, takes [AlertRules.longestRun] or longer. */
        LONGEST_RUN,

        /** The heap is above the bound of a `MemoryGate`. */
        HEAP,

        /** A `RetryBudget` is empty: so many calls fail that further failures are not retried. */
        RETRY_STORM,

        /** A `CircuitBreaker` refuses calls: it is open, forced open or half open. */
        BREAKER_OPEN,

        /** Coroutines, threads or futures wait for each other in a cycle. */
        DEADLOCK,
    }
}
