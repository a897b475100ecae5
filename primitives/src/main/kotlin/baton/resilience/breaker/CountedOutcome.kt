package baton.resilience.breaker

/** How the end of a call counts for the state of a breaker. */
internal enum class CountedOutcome {
    SUCCESS,
    SLOW,
    FAILURE,

    /** It says nothing about the callee. */
    NOTHING,
}
