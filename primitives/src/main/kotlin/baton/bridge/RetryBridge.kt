@file:JvmName("RetryBridge")

package baton.bridge

import baton.InternalBatonApi
import baton.resilience.Backoff
import baton.resilience.DEFAULT_RETRY_POLICY
import baton.resilience.FIRST_ATTEMPT
import baton.resilience.Jitter
import baton.resilience.RetryAfter
import baton.resilience.RetryAttempt
import baton.resilience.RetryBudget
import baton.resilience.RetryPolicy
import baton.resilience.attempts.RetryRun
import baton.resilience.lateMessage
import baton.resilience.start
import java.time.Duration
import java.util.Objects
import java.util.Optional
import java.util.function.Consumer
import java.util.function.Function
import java.util.function.Predicate
import kotlin.time.TimeMark
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration

// The internal API of retries for futures and threads. Java cannot call functions with a kotlin.time.Duration.

/** One call of retry; the methods of [RetryRun]. It is confined to the call. */
@InternalBatonApi
public class RetryCall
@JvmOverloads
constructor(private val policy: RetryPolicy, private val start: TimeMark? = policy.start()) {
    private var run: RetryRun? = null

    /** The attempt that runs or is waited for. */
    public var attempt: RetryAttempt = FIRST_ATTEMPT
        private set

    private fun run() = run ?: RetryRun(policy, start).also { run = it }

    public fun isRetryable(failure: Throwable): Boolean = run().isRetryable(failure, isActive = true)

    /** Goes on to the next attempt; false if the call ends with [ending]. */
    public fun advance(failure: Throwable): Boolean = advance(run().afterFailure(failure))

    /** As the other, after a result that was not accepted; if false, the call ends with the result. */
    public fun <T> advance(result: T, retryAfter: Function<in T, Optional<Duration>>): Boolean =
        advance(run().afterResult(result) { retryAfter.timeOf(it) })

    private fun advance(next: RetryAttempt?): Boolean {
        if (next != null) attempt = next
        return next != null
    }

    public fun ending(failure: Throwable): Throwable = run?.ending(failure) ?: failure

    public fun lateMessage(): String = policy.lateMessage(attempt)

    /** The wait before [attempt], zero if it is not to be waited for. */
    public val delay: Duration
        get() = attempt.delay.toJavaDuration()

    override fun toString(): String = textOf(policy.label, attempt.number, policy.maxAttempts)
}

/** A call in messages. */
@InternalBatonApi
public fun textOf(label: String, attempt: Int, maxAttempts: Int): String = "$label, attempt $attempt of $maxAttempts"

/** The begin of a call; null if no decision needs the elapsed time. */
@InternalBatonApi public fun begin(policy: RetryPolicy): TimeMark? = policy.start()

/** A call has succeeded. */
@InternalBatonApi
public fun succeeded(policy: RetryPolicy) {
    policy.budget?.earn()
}

/** The time that an attempt may take; null if it has no limit. */
@InternalBatonApi
public fun attemptTimeout(policy: RetryPolicy): Duration? =
    policy.attemptTimeout.takeIf { it.isFinite() }?.toJavaDuration()

@InternalBatonApi public fun label(policy: RetryPolicy): String = policy.label

@InternalBatonApi
public fun parseRetryAfter(header: String?): Optional<Duration> =
    Optional.ofNullable(RetryAfter.parse(header)?.toJavaDuration())

/** The policy of a builder on which no method was called. */
@InternalBatonApi public fun defaultPolicy(): RetryPolicy = DEFAULT_RETRY_POLICY

@InternalBatonApi
public fun withMaxAttempts(policy: RetryPolicy, attempts: Int): RetryPolicy = policy.copy(maxAttempts = attempts)

@InternalBatonApi
public fun withConstant(policy: RetryPolicy, delay: Duration): RetryPolicy =
    policy.copy(backoff = Backoff.constant(delay.toKotlinDuration()))

@InternalBatonApi
public fun withExponential(policy: RetryPolicy, base: Duration, factor: Double): RetryPolicy =
    policy.copy(backoff = Backoff.exponential(base.toKotlinDuration(), factor))

@InternalBatonApi
public fun withFibonacci(policy: RetryPolicy, base: Duration): RetryPolicy =
    policy.copy(backoff = Backoff.fibonacci(base.toKotlinDuration()))

@InternalBatonApi public fun withJitter(policy: RetryPolicy, jitter: Jitter): RetryPolicy = policy.copy(jitter = jitter)

@InternalBatonApi
public fun withMaxDelay(policy: RetryPolicy, time: Duration): RetryPolicy =
    policy.copy(maxDelay = time.toKotlinDuration())

@InternalBatonApi
public fun withMaxElapsed(policy: RetryPolicy, time: Duration): RetryPolicy =
    policy.copy(maxElapsed = time.toKotlinDuration())

@InternalBatonApi
public fun withAttemptTimeout(policy: RetryPolicy, time: Duration): RetryPolicy =
    policy.copy(attemptTimeout = time.toKotlinDuration())

@InternalBatonApi
public fun withMaxRetryAfter(policy: RetryPolicy, time: Duration): RetryPolicy =
    policy.copy(maxRetryAfter = time.toKotlinDuration())

@InternalBatonApi
public fun withRetryIf(policy: RetryPolicy, predicate: Predicate<in Throwable>): RetryPolicy =
    policy.copy(retryIf = { predicate.test(it) })

@InternalBatonApi
public fun withRetryAfter(policy: RetryPolicy, time: Function<in Throwable, Optional<Duration>>): RetryPolicy =
    policy.copy(retryAfter = { time.timeOf(it) })

private fun <T> Function<in T, Optional<Duration>>.timeOf(outcome: T): kotlin.time.Duration? {
    val time = Objects.requireNonNull(apply(outcome), "retryAfter returned null instead of an Optional")
    return time.orElse(null)?.toKotlinDuration()
}

@InternalBatonApi
public fun withBudget(policy: RetryPolicy, budget: RetryBudget): RetryPolicy = policy.copy(budget = budget)

@InternalBatonApi
public fun withOnRetry(policy: RetryPolicy, listener: Consumer<in RetryAttempt>): RetryPolicy =
    policy.copy(onRetry = { listener.accept(it) })

@InternalBatonApi public fun withName(policy: RetryPolicy, name: String?): RetryPolicy = policy.copy(name = name)
