package baton.resilience

import baton.Refusal
import baton.monitoring.Alert
import baton.monitoring.CallEvent
import baton.monitoring.CallOutcome
import baton.monitoring.MonitoredCalls
import baton.monitoring.Usage
import baton.monitoring.core.AlertBounds
import baton.monitoring.core.listIfNamed
import baton.monitoring.toUsage
import baton.resilience.breaker.BreakerMachine
import baton.resilience.breaker.CircuitBreakerCore
import baton.waiting.clock.BoundClock
import baton.waiting.clock.VirtualTime
import baton.waiting.coroutine.awaitPassing
import baton.waiting.flight.FlightEvents
import baton.waiting.lookAtWaiters
import kotlin.contracts.ExperimentalContracts
import kotlin.contracts.InvocationKind
import kotlin.contracts.contract
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.coroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.isActive

/**
 * Stops calling a service that fails: after too many failures it refuses calls for a time, then lets a few probes
 * through, and goes back to normal when they succeed.
 *
 * ```
 * val config = CircuitBreakerConfig(minimumCalls = 10, failureRate = 0.5, openFor = Backoff.exponential(5.seconds))
 * val breaker = CircuitBreaker(config)
 * val page = breaker.protect { fetch(url) }
 * ```
 *
 * *States.* [BreakerState.CLOSED] lets all calls through, until the share of failures, or of slow calls, among those of
 * the window reaches its bound; that is checked after each call that counts. [BreakerState.OPEN] refuses all calls for
 * `openFor`. The first call after that, or exactly at its end, makes it [BreakerState.HALF_OPEN], which lets in
 * `probes` calls at a time: so many successes close the breaker, slow ones too, and one failure opens it again, or more
 * of them if `failuresToOpen` says so. There is no timer. A probe that counts as nothing gives its place back, and one
 * that is not back within `probeTimeout` loses it; its failure counts even then. So the breaker is never stuck.
 *
 * *Counting.* A value is a success, unless `failureResult` accepts it, and slow if it took longer than `slowCall`. An
 * exception is a failure if `isFailure` accepts it, otherwise a success of the callee. These count as nothing, because
 * they say nothing about the callee: every exception of a cancelled caller, a `CancellationException` that is no
 * timeout, a [Refusal], an [Error], and what `ignoreIf` accepts. A `TimeoutCancellationException` from inside the
 * block, while the caller is not cancelled, is an exception like others: a timeout belongs inside, `breaker.protect {
 * withTimeout(1.seconds) { fetch(url) } }`. The results of calls that began before the last change of state do not
 * count, nor does the success of a probe which has lost its place.
 *
 * *With others.* A [ResiliencePipeline], or by hand `retry(policy) { breaker.protect { limiter.withPermit {
 * semaphore.withPermit { fetch(url) } } } }`. The retry is outside, so that each attempt counts. It waits for
 * [CircuitOpenException.retryIn] of an open breaker if [RetryPolicy.retryIf] accepts that exception, which it does not
 * by default, and if that time is at most [RetryPolicy.maxRetryAfter]. Otherwise the call ends with the exception. The
 * breaker comes before the limiter, so that a refused call takes no permit; calls that have passed the breaker and wait
 * for the limiter still reach the callee after the breaker has opened. The limiter comes before the semaphore, so that
 * a caller that waits for its turn does not hold a permit meanwhile. Their refusals count as nothing, and are not
 * repeated by default. With a `slowCall` put the breaker inside both: there the waits do not count as time of the
 * callee.
 *
 * *Waiting.* [protect] never waits. [awaitClosed] suspends until calls are let through. *Order.* All its waiters are
 * granted in the same step, and woken in the order in which they came: coroutines and the futures of the Java API
 * alike. *Cancellation.* Prompt, of waiters; there is nothing to return.
 *
 * *Memory.* Actions before the call or the [reset] that closes the breaker happen before the actions that follow an
 * [awaitClosed] which waited for it. Calls publish nothing to each other.
 *
 * *Misuse.* Do not share one breaker among services that fail independently: see [CircuitBreakers].
 *
 * All members may be called from any thread. A call of a closed breaker allocates nothing.
 */
public class CircuitBreaker
@JvmOverloads
constructor(public val config: CircuitBreakerConfig = DEFAULT_BREAKER_CONFIG, name: String? = null) : MonitoredCalls {
    // No second constructor: the compiler's message for a wrong call would show its parameters, internal or not.
    private var named: Any? = name
    @get:JvmSynthetic internal val core: CircuitBreakerCore = CircuitBreakerCore(config, this)

    init {
        listIfNamed(core)
    }

    /** Shown by messages and [toString]. */
    public override val name: String?
        get() = named?.toString()

    /** This new breaker with the text of [entry] as its name. It is one of many keys, and not listed. */
    @JvmSynthetic
    internal fun named(entry: Any, clock: BoundClock): CircuitBreaker {
        named = entry
        core.clock = clock
        return this
    }

    /** The state. It is [BreakerState.OPEN] until a call comes, also when its time is over. */
    public val state: BreakerState
        get() = core.state

    /**
     * The results in the window, and the number of refused calls. While the breaker refuses calls, the window keeps the
     * results that led to the opening; a [SlidingWindow.Time] still forgets old ones. Closing, [reset] and [disable]
     * empty it. `rejected` goes on.
     */
    public val metrics: CircuitBreakerMetrics
        get() = core.metrics

    /** The time until a call may be let in, as [CircuitOpenException.retryIn]; zero if one would be let in now. */
    public val retryIn: Duration
        get() = core.retryIn

    /** How many callers wait in [awaitClosed]. */
    public val waiting: Int
        get() = core.waiting

    /**
     * 1 of 1 while it is open, forced open or half open, and the callers in [awaitClosed]; in its totals `rejected`. A
     * monitor raises [Alert.Kind.BREAKER_OPEN] for it.
     */
    override fun usage(): Usage {
        val look = core.lookAtWaiters()
        val inUse = if (core.isPassing) 0L else 1L
        return look.toUsage(inUse, capacity = 1, mapOf("rejected" to metrics.rejected), OPEN_BOUNDS)
    }

    /**
     * Runs [block] if the breaker lets the call in, and counts its result. Returns its value, and throws what it
     * throws.
     *
     * *Cancellation.* The call counts as nothing; a probe gives its place back.
     *
     * @throws CircuitOpenException if the breaker refuses the call; the block is not run then.
     */
    @OptIn(ExperimentalContracts::class)
    public suspend inline fun <T> protect(block: () -> T): T {
        contract { callsInPlace(block, InvocationKind.EXACTLY_ONCE) }
        return protect({ it }) { block() }
    }

    /** As the other; at its end [startOf] says when the time of the callee began, given when the call did. */
    @OptIn(ExperimentalContracts::class)
    @PublishedApi
    @JvmSynthetic
    internal suspend inline fun <T> protect(startOf: (Long) -> Long, block: (Long) -> T): T {
        contract { callsInPlace(block, InvocationKind.EXACTLY_ONCE) }
        if (mayBeVirtual) bind(coroutineContext)
        val start = start()
        val call = enter(start)
        var failure: Throwable? = null
        var result = unjudged
        try {
            return block(start).also { if (judgesResults) result = it }
        } catch (e: Throwable) {
            failure = e
            throw e
        } finally {
            // Here, because a block may return from the function around it.
            if (failure == null) leave(call, startOf(start), result)
            else leaveFailed(call, startOf(start), failure, coroutineContext)
        }
    }

    /**
     * Waits until the breaker lets calls through: [BreakerState.CLOSED] or [BreakerState.DISABLED]. It is no probe:
     * some other caller must call, or reset the breaker, or this waits for ever.
     *
     * *Cancellation.* Throws.
     */
    public suspend fun awaitClosed() {
        if (mayBeVirtual) bind(coroutineContext)
        core.awaitPassing()
    }

    /**
     * As the other, but waits [timeout] at most, by the clock of the breaker or, if it has none, of the caller's
     * dispatcher. Returns whether the breaker let calls through in time. With zero or less it does not wait.
     */
    public suspend fun awaitClosed(timeout: Duration): Boolean {
        if (mayBeVirtual) bind(coroutineContext)
        return core.awaitPassing(timeout)
    }

    /** Refuses all calls until [reset] or [disable]: [BreakerState.FORCED_OPEN]. */
    public fun trip() {
        core.trip()
    }

    /**
     * Refuses all calls for [time], as in [BreakerState.OPEN]; then probes are let in. It may follow any state, also
     * that of a breaker that was tripped or disabled, and replaces the rest of the time of one that is open. Its
     * duration has no jitter and no bound, and the back-off of `openFor` does not count it. For an overloaded callee
     * that has named a time: `breaker.openFor(retryAfter)`.
     *
     * @throws IllegalArgumentException if [time] is not above 0.
     */
    public fun openFor(time: Duration) {
        require(time.isPositive()) { "time = $time, must be above 0" }
        core.clock.requireKnown(core)
        core.openFor(time)
    }

    /** Closes the breaker and empties its window. The results of calls that have begun before do not count. */
    public fun reset() {
        core.reset()
    }

    /** Lets all calls through until [reset] or [trip], and counts them: [BreakerState.DISABLED]. */
    public fun disable() {
        core.disable()
    }

    /**
     * Calls [listener] after each change of state, until the result is closed. The listeners are called without a lock,
     * one change after the other in their order: by the thread that made the change, or by a thread that is still
     * calling listeners for an earlier change. An exception of a listener goes to the thread's handler of uncaught
     * exceptions. A listener that blocks holds up those after it, and the caller whose result has changed the state.
     */
    public fun onChange(listener: (from: BreakerState, to: BreakerState) -> Unit): AutoCloseable =
        core.onChange(listener)

    /** See [MonitoredCalls.onCall]. A call that the breaker has refused has no attempt. */
    override fun onCall(listener: (CallEvent) -> Unit): AutoCloseable = core.onCall(listener)

    // The published functions are for the inlined body of protect alone: they stay in the bytecode of its callers.

    @PublishedApi
    internal val mayBeVirtual: Boolean
        @JvmSynthetic get() = VirtualTime.isPossible

    @PublishedApi
    @JvmSynthetic
    internal fun bind(context: CoroutineContext) {
        core.clock.bind(context, core)
    }

    @PublishedApi
    internal val judgesResults: Boolean
        @JvmSynthetic get() = config.judgesResults

    /** Stands for a value that is a success, whatever it is. */
    @PublishedApi
    internal val unjudged: Any?
        @JvmSynthetic get() = UNJUDGED

    @PublishedApi @JvmSynthetic internal fun start(): Long = core.start()

    /** The call, to be passed to one of the functions below; throws if it is refused. */
    @PublishedApi
    @JvmSynthetic
    internal fun enter(start: Long): Any {
        val call = core.enter(start)
        if (call !is BreakerMachine.Rejection) return call
        throw FlightEvents.refused(core.label(), exceptionOf(call)).also(core::reportRefused)
    }

    private fun exceptionOf(rejection: BreakerMachine.Rejection): CircuitOpenException {
        val retryIn = core.timeOf(rejection.nanos)
        return when (rejection.state) {
            BreakerState.OPEN -> CircuitOpenException("${core.label()} is open, retry in $retryIn", retryIn)
            BreakerState.HALF_OPEN ->
                CircuitOpenException("${core.label()} is half open and its ${config.probes} probes are out", retryIn)
                    .apply { mayCloseBefore = true }
            else -> CircuitOpenException("${core.label()} is forced open", retryIn)
        }
    }

    /** @param result [unjudged] or the value of the call. */
    @PublishedApi
    @JvmSynthetic
    internal fun leave(call: Any, start: Long, result: Any?) {
        if (result === UNJUDGED) leave(call, start, CallOutcome.SUCCESS, null)
        else leave(call, start, null) { config.outcomeOf(result) }
    }

    @PublishedApi
    @JvmSynthetic
    internal fun leaveFailed(call: Any, start: Long, failure: Throwable, context: CoroutineContext) {
        leaveFailed(call, start, failure, context.isActive)
    }

    /** @param isActive whether the caller is not cancelled. */
    @JvmSynthetic
    internal fun leaveFailed(call: Any, start: Long, failure: Throwable, isActive: Boolean) {
        leave(call, start, failure) { config.outcomeOf(failure, isActive) }
    }

    private inline fun leave(call: Any, start: Long, failure: Throwable?, outcomeOf: () -> CallOutcome) {
        var outcome = CallOutcome.FAILURE
        var why = failure
        try {
            outcome = outcomeOf()
        } catch (e: Throwable) { // of a function of the configuration
            if (failure != null && e !== failure) e.addSuppressed(failure)
            why = e
            throw e
        } finally {
            leave(call, start, outcome, why)
        }
    }

    /** The caller has given up. */
    @JvmSynthetic
    internal fun leaveCancelled(call: Any, start: Long) {
        leave(call, start, CallOutcome.IGNORED, null)
    }

    private fun leave(call: Any, start: Long, outcome: CallOutcome, failure: Throwable?) {
        core.leave(call, start, outcome, failure)
    }

    override fun toString(): String = "${core.label()} ($state, $metrics)"

    private companion object {
        val UNJUDGED = Any()
        val OPEN_BOUNDS = AlertBounds.all(Alert.Kind.BREAKER_OPEN)
    }
}
