@file:JvmName("RateLimiterBridge")

package baton.bridge

import baton.InternalBatonApi
import baton.resilience.Rate
import baton.resilience.RateLimiter
import baton.waiting.WaitCore
import java.time.Duration
import kotlin.time.toKotlinDuration

// The internal API by which futures and threads of Baton's Java API enter the queue of a rate limiter.

/** The core at which callers wait for permits; a waiter's number is how many. */
@InternalBatonApi @JvmName("of") public fun coreOf(limiter: RateLimiter): WaitCore = limiter.core

/** Whether a newcomer could have [permits] within [timeout]. */
@InternalBatonApi
public fun canHaveWithin(limiter: RateLimiter, permits: Int, timeout: Duration): Boolean =
    limiter.core.canHaveWithin(permits, timeout.toKotlinDuration())

private fun rate(permits: Int, per: Duration) = Rate(permits.toLong(), per.toKotlinDuration())

@InternalBatonApi
public fun tokenBucket(permits: Int, per: Duration, burst: Int, maxWaiting: Int, name: String?): RateLimiter =
    RateLimiter.tokenBucket(rate(permits, per), burst.toLong(), maxWaiting, name = name)

@InternalBatonApi
public fun leakyBucket(permits: Int, per: Duration, maxWaiting: Int, name: String?): RateLimiter =
    RateLimiter.leakyBucket(rate(permits, per), maxWaiting, name = name)

@InternalBatonApi
public fun update(limiter: RateLimiter, permits: Int, per: Duration, burst: Int): Unit =
    limiter.update(rate(permits, per), burst.toLong())
