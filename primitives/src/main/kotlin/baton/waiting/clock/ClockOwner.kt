package baton.waiting.clock

import baton.InternalBatonApi

/** An object with a [BoundClock]. */
@InternalBatonApi
public interface ClockOwner {
    /** The object in messages. */
    public val ownerLabel: String

    /** Whether a caller waits for the object. */
    public val isAwaited: Boolean
}

/** An owner for which no caller waits. */
@InternalBatonApi
public class LabelledOwner(override val ownerLabel: String) : ClockOwner {
    override val isAwaited: Boolean
        get() = false
}
