@file:JvmName("RetryBridge")

package baton.bridge

import baton.BatonClock
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
import baton.resilience.attempts.isCancellation
import baton.resilience.attempts.suppress
import baton.resilience.lateMessage
import baton.resilience.start
import baton.waiting.clock.BoundClock
import baton.waiting.clock.LabelledOwner
import java.time.Duration
import java.util.Objects
import java.util.Optional
import java.util.function.Consumer
import java.util.function.Function
import java.util.function.Predicate
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.DisposableHandle

// The internal API of retries for futures and threads. Java cannot call functions with a kotlin.time.Duration.

/** One call of retry; the methods of [RetryRun]. It is confined to the call. */
@InternalBatonApi
public class RetryCall
@JvmOverloads
constructor(private val policy: RetryPolicy, private val start: BoundClock? = policy.start()) {
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

    /** The failure of a call that ends with a [result] that was not accepted; null if that is its value. */
    public fun failureAfter(result: Any?): Throwable? = run().failureAfter(result)

    public fun ending(failure: Throwable): Throwable = run?.ending(failure) ?: failure

    public fun lateMessage(): String = policy.lateMessage(attempt)

    /** The wait before [attempt], zero if it is not to be waited for. */
    public val delay: Duration
        get() = attempt.delay.toJavaDuration()

    override fun toString(): String = textOf(policy.label, attempt.number, policy.maxAttempts)
}

/** Adds [earlier] to what [failure] suppresses, unless there is much already. */
@InternalBatonApi
@JvmName("suppress")
public fun suppressIn(earlier: Throwable, failure: Throwable): Unit = suppress(earlier, failure)

/** Whether [failure] is a cancellation or an interrupt, and no time limit inside the block of an active caller. */
@InternalBatonApi
@JvmName("isCancellation")
public fun isCancellationOf(failure: Throwable, isActive: Boolean): Boolean = isCancellation(failure, isActive)

/** A call in messages. */
@InternalBatonApi
public fun textOf(label: String, attempt: Int, maxAttempts: Int): String = "$label, attempt $attempt of $maxAttempts"

/** The begin of a call; null if no decision needs the elapsed time. */
@InternalBatonApi public fun begin(policy: RetryPolicy): BoundClock? = policy.start()

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

/** Runs [action] once [millis] have passed in the time of a call. */
@InternalBatonApi
public fun schedule(policy: RetryPolicy, millis: Long, action: Runnable): DisposableHandle =
    BoundClock(policy.clock).schedule(millis, action)

/** Called by a call of a thread, which waits for no other clock. */
@InternalBatonApi
public fun requireReal(policy: RetryPolicy) {
    if (policy.clock != null) BoundClock(policy.clock).requireReal(LabelledOwner(policy.label))
}

@InternalBatonApi
public fun parseRetryAfter(header: String?): Optional<Duration> =
    Optional.ofNullable(RetryAfter.parse(header)?.toJavaDuration())

/** The settings of a [RetryPolicy] in Java's types, for a builder; each has that of [base]. */
@InternalBatonApi
public class RetrySettings @JvmOverloads constructor(private val base: RetryPolicy = DEFAULT_RETRY_POLICY) : Cloneable {
    @JvmField public var maxAttempts: Int = base.maxAttempts
    @JvmField public var jitter: Jitter = base.jitter
    @JvmField public var maxDelay: Duration = base.maxDelay.toJavaDuration()
    @JvmField public var maxElapsed: Duration = base.maxElapsed.toJavaDuration()
    @JvmField public var attemptTimeout: Duration = base.attemptTimeout.toJavaDuration()
    @JvmField public var maxRetryAfter: Duration = base.maxRetryAfter.toJavaDuration()
    @JvmField public var retryIf: Predicate<in Throwable> = Predicate(base.retryIf)
    @JvmField public var retryAfter: Function<in Throwable, Optional<Duration>>? = null
    @JvmField public var failAfterLast: Boolean = base.failAfterLast
    @JvmField public var budget: RetryBudget? = base.budget
    @JvmField public var onRetry: Consumer<in RetryAttempt> = Consumer(base.onRetry)
    @JvmField public var clock: BatonClock? = base.clock
    @JvmField public var name: String? = base.name
    private var backoff = base.backoff

    public fun constant(delay: Duration) {
        backoff = Backoff.constant(delay.toKotlinDuration())
    }

    public fun exponential(base: Duration) {
        backoff = Backoff.exponential(base.toKotlinDuration())
    }

    public fun fibonacci(base: Duration) {
        backoff = Backoff.fibonacci(base.toKotlinDuration())
    }

    /** A changed copy; throws if a policy refuses its settings. */
    public fun with(change: Consumer<RetrySettings>): RetrySettings {
        val changed = clone() as RetrySettings
        change.accept(changed)
        changed.toPolicy()
        return changed
    }

    public fun toPolicy(): RetryPolicy =
        base.copy(
            maxAttempts,
            backoff,
            jitter,
            maxDelay.toKotlinDuration(),
            maxElapsed.toKotlinDuration(),
            attemptTimeout.toKotlinDuration(),
            maxRetryAfter.toKotlinDuration(),
            retryIf::test,
            retryAfter?.let { asked -> { asked.timeOf(it) } } ?: base.retryAfter,
            failAfterLast,
            budget,
            onRetry::accept,
            clock = clock,
            name = name,
        )
}

private fun <T> Function<in T, Optional<Duration>>.timeOf(outcome: T): kotlin.time.Duration? {
    val time = Objects.requireNonNull(apply(outcome), "retryAfter returned null instead of an Optional")
    return time.orElse(null)?.toKotlinDuration()
}
