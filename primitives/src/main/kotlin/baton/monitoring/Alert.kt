package baton.monitoring

/**
 * Something has been out of its bounds for a while, or is so no longer.
 *
 * @property kind what it is about.
 * @property source the name of what is watched.
 * @property value what was seen: a share for [Kind.UTILISATION] and [Kind.HEAP], seconds for [Kind.LONGEST_WAIT], 1.0
 *   for what is so or not.
 * @property bound the bound that the value reached when the alert is raised, or fell below when it is cleared.
 * @property raised whether it is raised; false when it is cleared.
 * @property usage what was seen at the look that raised or cleared it; null for [Kind.DEADLOCK].
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

    /** What an alert is about. */
    public enum class Kind {
        /** The share in use is at or above [AlertRules.utilisation]. */
        UTILISATION,

        /** A caller waits for [AlertRules.longestWait] or longer. */
        LONGEST_WAIT,

        /** The heap is above the bound of a `MemoryGate`. */
        HEAP,

        /** A `RetryBudget` is empty: so many calls fail that they are not retried any more. */
        RETRY_STORM,

        /** A `CircuitBreaker` refuses calls: it is open, forced open or half open. */
        BREAKER_OPEN,

        /** Coroutines wait for each other in a cycle. */
        DEADLOCK,
    }
}
