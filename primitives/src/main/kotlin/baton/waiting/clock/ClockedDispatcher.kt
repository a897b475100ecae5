package baton.waiting.clock

import baton.BatonClock
import baton.InternalBatonApi

/** A dispatcher whose delays [clock] measures. */
@InternalBatonApi
public interface ClockedDispatcher {
    public val clock: BatonClock
}
