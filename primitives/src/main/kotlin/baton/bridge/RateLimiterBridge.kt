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

/** Java cannot call a constructor that has a kotlin.time.Duration among its parameters. */
@InternalBatonApi public fun rate(permits: Int, per: Duration): Rate = Rate(permits.toLong(), per.toKotlinDuration())
