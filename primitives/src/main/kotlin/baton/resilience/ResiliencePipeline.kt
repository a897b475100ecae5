package baton.resilience

import baton.BatonClock
import baton.CallGuard
import baton.monitoring.CallEvent
import baton.monitoring.CallOutcome
import baton.monitoring.Monitored
import baton.monitoring.MonitoredCalls
import baton.monitoring.Usage
import baton.monitoring.core.CallListeners
import baton.resilience.attempts.CallTrace
import baton.resilience.attempts.HedgeRace
import baton.resilience.attempts.Passage
import baton.resilience.attempts.isCancellation
import baton.resilience.attempts.suppress
import baton.waiting.clock.BoundClock
import baton.waiting.labelOf
import baton.waiting.threads.Trampoline
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.coroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.isActive

/**
 * Calls of one callee through all layers of protection, in the order in which they work together.
 *
 * ```
 * val upstream = ResiliencePipeline(
 *     "billing",
 *     retry = RetryPolicy(maxAttempts = 3),
 *     breaker = breaker,
 *     limiter = limiter,
 *     semaphore = semaphore,
 *     maxWait = 200.milliseconds,
 *     attemptTimeout = 2.seconds,
 * )
 * val answer = upstream.call { client.get(path) }
 * val stale = upstream.call(fallback = { e -> cached }) { client.get(path) }
 * ```
 *
 * *Layers.* From the outside in; each may be missing:
 * 1. The fallback of the call.
 * 2. [retry]: every attempt goes through the layers below.
 * 3. [breaker]: an attempt that it refuses takes nothing. It counts each attempt, a hedged one as one call. Its
 *    durations begin after the waits of the layers below.
 * 4. [hedge]: a further attempt takes a permit of each layer below for itself, now or not at all.
 * 5. [limiter], 6. [semaphore]: each waits [maxWait] at most. A caller that waits for the limiter holds no permit of
 *    the semaphore meanwhile; the permit of a limiter is spent even if the semaphore refuses then.
 * 7. [attemptTimeout]: the time of the block alone.
 *
 * *Outcomes.* One for all layers, see [CircuitBreakerConfig]. A cancellation, a refusal (of a layer, too) and an
 * [Error] say nothing about the callee. [RetryPolicy.retryIf] decides which exceptions are worth another attempt, and
 * by default none of these. A value that [CircuitBreakerConfig.failureResult] of the [breaker] accepts is worth one,
 * and does not win a race of a [hedge] while another attempt runs; the last one is returned, unless
 * [RetryPolicy.failAfterLast] says otherwise. An attempt that takes too long fails with [AttemptTimeoutException].
 *
 * *Waiting.* As each layer does. *Order.* That of the layers. *Memory.* As each layer.
 *
 * *Cancellation.* Ends the call in every layer: what it holds goes back, a probe gives its place back, nothing is
 * retried, and the fallback is not called. A hedge ends when all its attempts have: one that ignores cancellation
 * delays the call. Values of the attempts that have lost are dropped, so the block must not return what has to be
 * closed.
 *
 * *Misuse.* A [retry] with an [RetryPolicy.attemptTimeout] of its own, a negative [maxWait], and an [attemptTimeout]
 * that is not above 0 throw [IllegalArgumentException]. Do not put the same limiter or semaphore into the block, too.
 * All members may be called from any thread. A call costs about what its layers do around a block that is not inlined.
 *
 * @property name shown by messages, and the name of its meters.
 * @property retry null for a single attempt.
 * @property breaker null for none.
 * @property limiter a [RateLimiter], or another guard, through which each attempt goes first.
 * @property semaphore a `Semaphore`, or another guard, through which each attempt goes then.
 * @property hedge only for calls that may overlap; null for none.
 * @property maxWait how long an attempt waits for each of [limiter] and [semaphore], at least 0.
 * @property attemptTimeout how long an attempt may take; then it is cancelled (a thread: interrupted), and fails once
 *   it has ended. A value that comes all the same is a success, late.
 * @param clock of [attemptTimeout], [hedge] and the events; by default that of the dispatcher of the caller. See
 *   [BatonClock].
 */
public class ResiliencePipeline(
    public override val name: String? = null,
    public val retry: RetryPolicy? = null,
    public val breaker: CircuitBreaker? = null,
    public val limiter: CallGuard? = null,
    public val semaphore: CallGuard? = null,
    public val hedge: Hedge? = null,
    public val maxWait: Duration = Duration.INFINITE,
    public val attemptTimeout: Duration = Duration.INFINITE,
    @get:JvmSynthetic internal val clock: BatonClock? = null,
) : MonitoredCalls {
    private val listeners = CallListeners()

    /** A single attempt with the time limit. */
    @get:JvmSynthetic internal val limit: RetryPolicy

    /** Null if no value is a failure. */
    @get:JvmSynthetic internal val failureResult: ((Any?) -> Boolean)? = breaker?.config?.failureResultOrNull

    init {
        val own = retry?.attemptTimeout ?: Duration.INFINITE
        require(own.isInfinite()) { "retry.attemptTimeout = $own, must be infinite: give it to the pipeline" }
        notNegative("maxWait", maxWait)
        require(attemptTimeout.isPositive()) { "attemptTimeout = $attemptTimeout, must be above 0" }
        limit = RetryPolicy(maxAttempts = 1, attemptTimeout = attemptTimeout, clock = clock)
        limit.label = label()
    }

    /**
     * Runs [block] through the layers, and returns its value.
     *
     * @param fallback makes the value of a call that has failed or was refused, from its exception. It runs outside of
     *   all layers, and is not called for an [Error] or a cancellation. Its exception is thrown, with the call's as
     *   suppressed.
     */
    public suspend fun <T> call(fallback: (suspend (Throwable) -> T)? = null, block: suspend () -> T): T =
        if (fallback == null && listeners.orNull() == null) attempts(null, block) else watched(fallback, block)

    private suspend fun <T> watched(fallback: (suspend (Throwable) -> T)?, block: suspend () -> T): T {
        val trace = newTrace(coroutineContext)
        val failure =
            try {
                val value = attempts(trace, block)
                succeeded(trace, value)
                return value
            } catch (e: Throwable) {
                e
            }
        val isActive = coroutineContext.isActive
        failed(trace, failure, isActive)
        if (fallback == null || !isActive || failure is Error || isCancellation(failure, isActive)) throw failure
        try {
            return fallback(failure)
        } catch (e: Throwable) {
            suppress(failure, e)
            throw e
        }
    }

    private suspend fun <T> attempts(trace: CallTrace?, block: suspend () -> T): T {
        val policy = retry ?: return attempt(trace, block)
        return retry(policy, failureResult, block = Attempts(trace, block))
    }

    // These are classes, because a call of a lambda that suspends allocates a copy of it.

    private inner class Attempts<T>(private val trace: CallTrace?, private val block: suspend () -> T) :
        suspend (RetryAttempt) -> T {
        override suspend fun invoke(p1: RetryAttempt): T = attempt(trace, block)
    }

    private inner class Begun<T>(private val passage: Passage?, private val block: suspend () -> T) : suspend () -> T {
        override suspend fun invoke(): T {
            begun(passage)
            return timed(block)
        }
    }

    private class Guarded<T>(
        private val guard: CallGuard,
        private val maxWait: Duration,
        private val block: suspend () -> T,
    ) : suspend () -> T {
        override suspend fun invoke(): T = guard.guarded(maxWait, block)
    }

    private suspend fun <T> attempt(trace: CallTrace?, block: suspend () -> T): T =
        when {
            trace != null -> traced(trace, block)
            breaker == null -> raced(null, block)
            // Without a wait the time of the callee begins with the call.
            limiter == null && semaphore == null -> counted(breaker, null, block)
            else -> counted(breaker, Passage(null), block)
        }

    private suspend fun <T> traced(trace: CallTrace, block: suspend () -> T): T {
        val passage = Passage(trace)
        try {
            return if (breaker == null) raced(passage, block) else counted(breaker, passage, block)
        } finally {
            passage.endWait()
        }
    }

    private suspend fun <T> counted(breaker: CircuitBreaker, passage: Passage?, block: suspend () -> T): T =
        breaker.protect({ passage?.start ?: it }) { start ->
            passage?.start = start
            raced(passage, block)
        }

    private suspend fun <T> raced(passage: Passage?, block: suspend () -> T): T =
        when {
            hedge != null -> hedged(hedge, passage, block)
            passage == null && attemptTimeout.isInfinite() -> guarded(maxWait, block)
            else -> guarded(maxWait, Begun(passage, block))
        }

    private suspend fun <T> hedged(hedge: Hedge, passage: Passage?, block: suspend () -> T): T =
        HedgeRace<T>(hedge, clock, failureResult) { isFirst ->
                guarded(if (isFirst) maxWait else Duration.ZERO) {
                    if (isFirst) {
                        begun(passage)
                        begun()
                    } else {
                        passage?.trace?.begun()
                    }
                    timed(block)
                }
            }
            .run()

    private fun begun(passage: Passage?) {
        if (passage == null) return
        if (breaker != null) passage.start = breaker.start()
        passage.begun()
    }

    private suspend fun <T> guarded(maxWait: Duration, block: suspend () -> T): T {
        val outer = limiter ?: return if (semaphore == null) block() else semaphore.guarded(maxWait, block)
        return outer.guarded(maxWait, if (semaphore == null) block else Guarded(semaphore, maxWait, block))
    }

    private suspend fun <T> timed(block: suspend () -> T): T =
        if (attemptTimeout.isInfinite()) block() else retry(limit) { block() }

    /** Null without a listener. */
    @JvmSynthetic
    internal fun newTrace(context: CoroutineContext?): CallTrace? =
        if (listeners.orNull() == null) null else CallTrace(BoundClock(clock, context))

    @JvmSynthetic
    internal fun succeeded(trace: CallTrace?, value: Any?) {
        if (trace != null) report(trace, null) { it.outcomeOf(value) }
    }

    @JvmSynthetic
    internal fun failed(trace: CallTrace?, failure: Throwable, isActive: Boolean) {
        if (trace == null) return
        // The breaker has counted the value that was not accepted, and its isFailure does not know this exception.
        val isOfResult = failureResult != null && retry?.failAfterLast == true && failure is ResultNotAcceptedException
        report(trace, failure) { if (isActive && isOfResult) CallOutcome.FAILURE else it.outcomeOf(failure, isActive) }
    }

    private inline fun report(trace: CallTrace, failure: Throwable?, outcomeOf: (CircuitBreakerConfig) -> CallOutcome) {
        var outcome = CallOutcome.FAILURE
        Trampoline.guarded { outcome = outcomeOf(breaker?.config ?: DEFAULT_BREAKER_CONFIG) }
        listeners.report(trace.event(outcome, failure))
    }

    /** 0 of 0: the layers are [Monitored] themselves. */
    override fun usage(): Usage = Usage(inUse = 0, capacity = 0)

    /**
     * See [MonitoredCalls.onCall]. The listener gets each call once, before the fallback: the outcome of the last
     * attempt, how long all attempts have taken with their waits, and what they have waited for [limiter] and
     * [semaphore].
     */
    override fun onCall(listener: (CallEvent) -> Unit): AutoCloseable = listeners.add(listener)

    private fun label() = labelOf("ResiliencePipeline", name)

    override fun toString(): String {
        val layers =
            listOf(
                    "retry" to retry,
                    "breaker" to breaker,
                    "hedge" to hedge,
                    "limiter" to limiter,
                    "semaphore" to semaphore,
                )
                .mapNotNull { (layer, part) -> if (part == null) null else "$layer = $part" }
        val times = listOf("maxWait = $maxWait", "attemptTimeout = $attemptTimeout")
        return "${label()} (${(layers + times).joinToString()})"
    }
}
