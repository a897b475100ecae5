package baton.resilience.breaker

/** How the end of a call counts. */
internal enum class CallOutcome {
    SUCCESS,
    SLOW,
    FAILURE,

    /** It says nothing about the callee: the caller was cancelled. */
    NOTHING,
}
