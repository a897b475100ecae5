@file:JvmSynthetic

package baton.resilience

import baton.BatonClock
import baton.Refusal
import baton.waiting.labelOf
import java.io.IOException
import java.util.concurrent.TimeoutException
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.TimeoutCancellationException

/**
 * When [retry] tries again, and how long it waits before.
 *
 * ```
 * val policy = RetryPolicy(
 *     maxAttempts = 5,
 *     backoff = Backoff.exponential(200.milliseconds),
 *     jitter = Jitter.Full,
 *     retryAfter = { RetryAfter.parse((it as? HttpFailure)?.retryAfter) },
 *     budget = RetryBudget(ratio = 0.2, burst = 10),
 * )
 * ```
 *
 * It is immutable apart from its [budget] and [random], and any number of calls may share it. An exception of its
 * functions ends the call, with the failure of the attempt as suppressed.
 *
 * @property maxAttempts how many attempts there are at most, the first one included; at least 1.
 * @property backoff the delay after each attempt.
 * @property jitter the randomness of that delay.
 * @property maxDelay the bound of the delay with its jitter. A [Backoff.constant] has none, and a Retry-After may be
 *   longer.
 * @property maxElapsed how long after the beginning of the call an attempt may still begin. A wait that would end later
 *   is not begun. It does not interrupt an attempt.
 * @property attemptTimeout how long an attempt may take; then it is cancelled (a thread: interrupted), and fails with
 *   [AttemptTimeoutException] once it has ended. An attempt that returns a value all the same has succeeded, late.
 * @property maxRetryAfter the longest Retry-After that is waited for. After a longer one there is no retry.
 * @property retryIf whether a failure is worth another attempt. By default [IOException], [TimeoutException] and a
 *   `TimeoutCancellationException` of the block are, but no [Refusal]. It is not called for an [Error], nor for
 *   cancellation. If it accepts a refusal, the wait lasts at least for the time that the refusal names; that counts as
 *   a Retry-After.
 * @property retryAfter the time that the failure asks to wait at least, or null. See [RetryAfter.parse].
 * @property failAfterLast whether a call ends with [ResultNotAcceptedException] if its last result is not accepted;
 *   otherwise it returns that result.
 * @property budget bounds the retries of all calls that share it; null for no such bound.
 * @property onRetry called before the wait for each retry, with the attempt that is to follow.
 * @property random the source of the jitter. Calls that run at the same time may share any: other than
 *   [Random.Default], it is used under its monitor.
 * @property clock the clock of [maxElapsed] and of all waits; by default that of the dispatcher of the caller, virtual
 *   or not, and of futures and threads the system's. See [BatonClock].
 * @property name shown by messages.
 */
public class RetryPolicy(
    public val maxAttempts: Int = 3,
    public val backoff: Backoff = Backoff.exponential(1.seconds),
    public val jitter: Jitter = Jitter.Factor(0.5),
    public val maxDelay: Duration = 30.seconds,
    public val maxElapsed: Duration = Duration.INFINITE,
    public val attemptTimeout: Duration = Duration.INFINITE,
    public val maxRetryAfter: Duration = 60.seconds,
    public val retryIf: (Throwable) -> Boolean = TRANSIENT,
    public val retryAfter: (Throwable) -> Duration? = NO_RETRY_AFTER,
    public val failAfterLast: Boolean = false,
    public val budget: RetryBudget? = null,
    public val onRetry: (RetryAttempt) -> Unit = IGNORED,
    public val random: Random = Random.Default,
    public val clock: BatonClock? = null,
    public val name: String? = null,
) {
    init {
        require(maxAttempts >= 1) { "maxAttempts = $maxAttempts, must be at least 1" }
        notNegative("maxDelay", maxDelay)
        notNegative("maxElapsed", maxElapsed)
        require(attemptTimeout.isPositive()) { "attemptTimeout = $attemptTimeout, must be above 0" }
        notNegative("maxRetryAfter", maxRetryAfter)
    }

    /**
     * The same policy with what is given here. It shares the [budget], [random] and [clock] of this one, unless others
     * are given.
     */
    public fun copy(
        maxAttempts: Int = this.maxAttempts,
        backoff: Backoff = this.backoff,
        jitter: Jitter = this.jitter,
        maxDelay: Duration = this.maxDelay,
        maxElapsed: Duration = this.maxElapsed,
        attemptTimeout: Duration = this.attemptTimeout,
        maxRetryAfter: Duration = this.maxRetryAfter,
        retryIf: (Throwable) -> Boolean = this.retryIf,
        retryAfter: (Throwable) -> Duration? = this.retryAfter,
        failAfterLast: Boolean = this.failAfterLast,
        budget: RetryBudget? = this.budget,
        onRetry: (RetryAttempt) -> Unit = this.onRetry,
        random: Random = this.random,
        clock: BatonClock? = this.clock,
        name: String? = this.name,
    ): RetryPolicy =
        RetryPolicy(
            maxAttempts,
            backoff,
            jitter,
            maxDelay,
            maxElapsed,
            attemptTimeout,
            maxRetryAfter,
            retryIf,
            retryAfter,
            failAfterLast,
            budget,
            onRetry,
            random,
            clock,
            name,
        )

    /** Whether all waits are the same, but for their jitter. */
    internal val isConstant: Boolean
        @JvmSynthetic get() = backoff.isConstant

    /** In messages. A pipeline whose time limit this is sets its own before it hands out the policy. */
    @get:JvmSynthetic @set:JvmSynthetic internal var label: String = labelOf("retry", name)

    override fun toString(): String {
        val label = labelOf("RetryPolicy", name)
        return "$label (maxAttempts = $maxAttempts, backoff = $backoff, jitter = $jitter, maxDelay = $maxDelay)"
    }

    private companion object {
        private val TRANSIENT: (Throwable) -> Boolean = {
            it !is Refusal && (it is IOException || it is TimeoutException || it is TimeoutCancellationException)
        }
        private val NO_RETRY_AFTER: (Throwable) -> Duration? = { null }
        private val IGNORED: (RetryAttempt) -> Unit = {}
    }
}

/** The policy of a call that gives none. */
internal val DEFAULT_RETRY_POLICY: RetryPolicy = RetryPolicy()
