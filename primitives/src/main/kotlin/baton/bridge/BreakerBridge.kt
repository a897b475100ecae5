@file:JvmName("BreakerBridge")

package baton.bridge

import baton.BatonClock
import baton.InternalBatonApi
import baton.monitoring.CallEvent
import baton.monitoring.MonitoredCalls
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
import java.util.function.Consumer
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
@InternalBatonApi
public fun start(breaker: CircuitBreaker): Long {
    breaker.core.clock.requireKnown(breaker.core)
    return breaker.start()
}

/** The start of a call that has waited after it was let in. */
@InternalBatonApi public fun restart(breaker: CircuitBreaker): Long = breaker.start()

/** Lets in a call, to be passed to one of the functions below; throws [CircuitOpenException] if it is refused. */
@InternalBatonApi public fun enter(breaker: CircuitBreaker, start: Long): Any = breaker.enter(start)

@InternalBatonApi
public fun succeeded(breaker: CircuitBreaker, call: Any, start: Long, value: Any?): Unit =
    breaker.leave(call, start, if (breaker.judgesResults) value else breaker.unjudged)

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

@InternalBatonApi
public fun onCall(calls: MonitoredCalls, listener: Consumer<in CallEvent>): AutoCloseable =
    calls.onCall { listener.accept(it) }

@InternalBatonApi
public fun openFor(breaker: CircuitBreaker, time: Duration): Unit = breaker.openFor(time.toKotlinDuration())

/** The settings of a [CircuitBreakerConfig] in Java's types, for a builder; each has its default. */
@InternalBatonApi
public class BreakerSettings : Cloneable {
    @JvmField public var window: SlidingWindow = DEFAULT_BREAKER_CONFIG.window
    @JvmField public var minimumCalls: Int = DEFAULT_BREAKER_CONFIG.minimumCalls
    @JvmField public var failureRate: Double = DEFAULT_BREAKER_CONFIG.failureRate
    @JvmField public var slowCall: Duration = DEFAULT_BREAKER_CONFIG.slowCall.toJavaDuration()
    @JvmField public var slowRate: Double = DEFAULT_BREAKER_CONFIG.slowRate
    @JvmField public var jitter: Jitter = DEFAULT_BREAKER_CONFIG.jitter
    @JvmField public var probes: Int = DEFAULT_BREAKER_CONFIG.probes
    @JvmField public var probeTimeout: Duration = DEFAULT_BREAKER_CONFIG.probeTimeout.toJavaDuration()
    @JvmField public var failuresToOpen: Int = DEFAULT_BREAKER_CONFIG.failuresToOpen
    @JvmField public var isFailure: Predicate<in Throwable> = Predicate(DEFAULT_BREAKER_CONFIG.isFailure)
    @JvmField public var ignoreIf: Predicate<in Throwable> = Predicate(DEFAULT_BREAKER_CONFIG.ignoreIf)
    @JvmField public var failureResult: Predicate<in Any?>? = null
    @JvmField public var clock: BatonClock? = null
    private var openFor = DEFAULT_BREAKER_CONFIG.openFor
    private var maxOpenFor = DEFAULT_BREAKER_CONFIG.maxOpenFor

    public fun window(length: Duration) {
        window = SlidingWindow.Time(length.toKotlinDuration())
    }

    public fun openFor(time: Duration) {
        openFor = Backoff.constant(time.toKotlinDuration())
    }

    public fun openFor(first: Duration, max: Duration) {
        openFor = Backoff.exponential(first.toKotlinDuration())
        maxOpenFor = max.toKotlinDuration()
    }

    /** A changed copy; throws if a configuration refuses its settings, whatever the calls of the window. */
    public fun with(change: Consumer<BreakerSettings>): BreakerSettings {
        val changed = clone() as BreakerSettings
        change.accept(changed)
        changed.toConfig(ANY_WINDOW)
        return changed
    }

    public fun toConfig(): CircuitBreakerConfig = toConfig(window)

    private fun toConfig(window: SlidingWindow) =
        CircuitBreakerConfig(
            window,
            minimumCalls,
            failureRate,
            slowCall.toKotlinDuration(),
            slowRate,
            openFor,
            maxOpenFor,
            jitter,
            probes,
            failuresToOpen,
            probeTimeout.toKotlinDuration(),
            isFailure::test,
            ignoreIf::test,
            failureResult?.let { it::test } ?: DEFAULT_BREAKER_CONFIG.failureResult,
            clock = clock,
        )

    override fun toString(): String = toConfig(ANY_WINDOW).textWith(window)

    private companion object {
        /** A window that allows any minimum of calls. */
        private val ANY_WINDOW = SlidingWindow.Time(1.seconds)
    }
}
