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
