package baton.resilience.limiter

import baton.waiting.contract.SuspendingWaiterDispatch
import baton.waiting.contract.WaiterTimeouts
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds

class KotlinRateLimiterContractTest :
    RateLimiterContract(::KotlinRateLimiterFace), SuspendingWaiterDispatch, RateLimiterRunTwice

/**
 * A nanosecond brings the next permits, but the clock stands still. So no timeout is too short to wait at all, and the
 * timer of the head fires in every millisecond of virtual time.
 */
class KotlinRateLimiterTimeoutsTest : WaiterTimeouts, RateLimiterFixture {
    override val faceOf: RateLimiterFaceOf
        get() = ::KotlinRateLimiterFace

    override val period: Duration
        get() = 1.nanoseconds

    /** In RateLimiterTest: a century has too many milliseconds. */
    override fun timed_hugeOrInfinite_waitsAsWithoutATimeout() = Unit
}
