package baton.resilience.limiter

import baton.waiting.Waiter

/** The place of a reservation. It only stands in the queue: it has no caller to be resumed. */
internal class ReservedPlace(core: RateLimiterCore, permits: Int) : Waiter(core, permits, request = null) {
    /** Whether it has taken tokens before its time. Guarded by the lock of the core. */
    var isAdvanced = false

    override fun resume() = true

    override fun resumeFailed() = Unit
}
