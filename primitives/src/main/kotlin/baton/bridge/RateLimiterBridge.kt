@file:JvmName("RateLimiterBridge")

package baton.bridge

import baton.InternalBatonApi
import baton.resilience.Rate
import baton.resilience.RateLimiter
import baton.resilience.RateReservation
import baton.waiting.WaitCore
import java.time.Duration
import kotlin.time.toKotlinDuration

// The internal API by which futures and threads of Baton's Java API enter the queue of a rate limiter.

/** The core at which callers wait for permits; a waiter's number is how many. */
@InternalBatonApi @JvmName("of") public fun coreOf(limiter: RateLimiter): WaitCore = limiter.core

/** [RateLimiter.tryAcquire], which counts as a refusal only if the request [isLast]: not followed by one that waits. */
@InternalBatonApi
public fun tryTake(limiter: RateLimiter, permits: Int, isLast: Boolean): Boolean = limiter.tryTake(permits, isLast)

/** [RateLimiter.tryReserve] with a Duration of Java. */
@InternalBatonApi
public fun tryReserve(limiter: RateLimiter, permits: Int, maxWait: Duration): RateReservation? =
    limiter.tryReserve(permits, maxWait.toKotlinDuration())

/** Whether a newcomer could have [permits] within [timeout]. If not, it counts as refused. */
@InternalBatonApi
public fun canHaveWithin(limiter: RateLimiter, permits: Int, timeout: Duration): Boolean =
    limiter.core.canHaveWithin(permits, timeout.toKotlinDuration())

/** The time after which a call that does not wait would get [permits]; null if there is none. */
@InternalBatonApi public fun retryIn(limiter: RateLimiter, permits: Int): Duration? = limiter.retryIn(permits)

/** Java cannot call a constructor that has a kotlin.time.Duration among its parameters. */
@InternalBatonApi public fun rate(permits: Int, per: Duration): Rate = Rate(permits.toLong(), per.toKotlinDuration())
