package baton.resilience

/** What the end of a call counts as. */
internal enum class CallOutcome {
    SUCCESS,
    SLOW,
    FAILURE,

    /** It says nothing about the callee: the caller was cancelled. */
    NOTHING,
}
