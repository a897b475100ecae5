@file:JvmName("BreakerBridge")

package baton.bridge

import baton.InternalBatonApi
import baton.resilience.Backoff
import baton.resilience.BreakerState
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitOpenException
import baton.resilience.DEFAULT_BREAKER_CONFIG
import baton.resilience.Jitter
import baton.resilience.SlidingWindow
import baton.waiting.WaitCore
import java.time.Duration
import java.util.function.BiConsumer
import java.util.function.Predicate
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration

// The internal API of circuit breakers for futures and threads. Java cannot call a function with a
// kotlin.time.Duration.

/** The core at which callers wait until this breaker is closed. */
@InternalBatonApi @JvmName("of") public fun coreOf(breaker: CircuitBreaker): WaitCore = breaker.core

/** Whether a caller need not wait. */
@InternalBatonApi public fun isPassing(breaker: CircuitBreaker): Boolean = breaker.core.isPassing

/** The start of a call, for the functions below. */
@InternalBatonApi public fun start(breaker: CircuitBreaker): Long = breaker.start()

/** Lets in a call, to be passed to one of the functions below; throws [CircuitOpenException] if it is refused. */
@InternalBatonApi public fun enter(breaker: CircuitBreaker, start: Long): Any = breaker.enter(start)

@InternalBatonApi
public fun succeeded(breaker: CircuitBreaker, call: Any, start: Long): Unit = breaker.leave(call, start)

/** @param isActive whether the caller was neither cancelled nor interrupted. */
@InternalBatonApi
public fun failed(breaker: CircuitBreaker, call: Any, start: Long, failure: Throwable, isActive: Boolean): Unit =
    breaker.leaveFailed(call, start, failure, isActive)

/** The caller has given up. */
@InternalBatonApi
public fun cancelled(breaker: CircuitBreaker, call: Any, start: Long): Unit = breaker.leaveCancelled(call, start)

@InternalBatonApi public fun label(breaker: CircuitBreaker): String = breaker.core.label()

@InternalBatonApi public fun retryIn(breaker: CircuitBreaker): Duration = breaker.retryIn.toJavaDuration()

@InternalBatonApi
public fun onChange(breaker: CircuitBreaker, listener: BiConsumer<in BreakerState, in BreakerState>): AutoCloseable =
    breaker.onChange { from, to -> listener.accept(from, to) }

/** The window of a configuration that is given none. */
@InternalBatonApi public fun defaultWindow(): SlidingWindow = DEFAULT_BREAKER_CONFIG.window

@InternalBatonApi public fun windowOf(length: Duration): SlidingWindow = SlidingWindow.Time(length.toKotlinDuration())

/** The defaults, but for the window: one that allows any minimum of calls. */
@InternalBatonApi
public fun configWithoutWindow(): CircuitBreakerConfig =
    DEFAULT_BREAKER_CONFIG.copy(window = SlidingWindow.Time(1.seconds))

/** The settings as text, with a window that the configuration need not allow. */
@InternalBatonApi
public fun textOf(config: CircuitBreakerConfig, window: SlidingWindow): String = config.textWith(window)

@InternalBatonApi
public fun withWindow(config: CircuitBreakerConfig, window: SlidingWindow): CircuitBreakerConfig =
    config.copy(window = window)

@InternalBatonApi
public fun withMinimumCalls(config: CircuitBreakerConfig, calls: Int): CircuitBreakerConfig =
    config.copy(minimumCalls = calls)

@InternalBatonApi
public fun withFailureRate(config: CircuitBreakerConfig, rate: Double): CircuitBreakerConfig =
    config.copy(failureRate = rate)

@InternalBatonApi
public fun withSlow(config: CircuitBreakerConfig, time: Duration, rate: Double): CircuitBreakerConfig =
    config.copy(slowCall = time.toKotlinDuration(), slowRate = rate)

@InternalBatonApi
public fun withOpenFor(config: CircuitBreakerConfig, time: Duration): CircuitBreakerConfig {
    val constant = time.toKotlinDuration()
    return config.copy(openFor = Backoff.constant(constant), maxOpenFor = maxOf(constant, config.maxOpenFor))
}

@InternalBatonApi
public fun withOpenFor(config: CircuitBreakerConfig, first: Duration, max: Duration): CircuitBreakerConfig =
    config.copy(openFor = Backoff.exponential(first.toKotlinDuration()), maxOpenFor = max.toKotlinDuration())

@InternalBatonApi
public fun withJitter(config: CircuitBreakerConfig, jitter: Jitter): CircuitBreakerConfig = config.copy(jitter = jitter)

@InternalBatonApi
public fun withProbes(config: CircuitBreakerConfig, probes: Int, timeout: Duration): CircuitBreakerConfig =
    config.copy(probes = probes, probeTimeout = timeout.toKotlinDuration())

@InternalBatonApi
public fun withIsFailure(config: CircuitBreakerConfig, predicate: Predicate<in Throwable>): CircuitBreakerConfig =
    config.copy(isFailure = { predicate.test(it) })
