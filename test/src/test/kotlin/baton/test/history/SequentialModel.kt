package baton.test.history

/** An object that takes one call after the other. */
interface SequentialModel<S, I, O : Any> {
    val initial: S

    /** The state after a call with that output; null if it cannot have this output. Null states are none. */
    fun after(state: S, input: I, output: O): S?

    /** The state after a call of which the output is unknown. */
    fun afterUnknown(state: S, input: I): S
}
