package baton.monitoring

/** How a call counts. */
public enum class CallOutcome {
    /** The callee has answered. */
    SUCCESS,

    /** The callee has failed, by an exception or by a result that counts as one. */
    FAILURE,

    /** The end says nothing about the callee: a cancellation, an [Error], an exception that is to be ignored. */
    IGNORED,

    /** The call was not admitted: its exception is a [baton.Refusal]. */
    REFUSED,
}
