package baton.resilience.attempts

import baton.Refusal
import baton.resilience.CircuitOpenException
import baton.resilience.ResultNotAcceptedException
import baton.resilience.RetryAttempt
import baton.resilience.RetryPolicy
import baton.retryIn
import baton.waiting.clock.BoundClock
import java.util.concurrent.CancellationException
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.TimeoutCancellationException

/**
 * One call of retry after its first attempt has not succeeded: counts the attempts, keeps the failures, spends the
 * budget. It is confined to the call, and does not wait; that is up to the coroutine, future or thread of the call.
 *
 * @property start null if the policy has no bound of the elapsed time.
 */
internal class RetryRun(private val policy: RetryPolicy, private val start: BoundClock?) {
    private val arithmetic = RetryArithmetic(policy)
    private val failures = ArrayDeque<Throwable>()
    private var number = 1

    /**
     * Whether the failure may lead to another attempt. If not, the call ends with [ending].
     *
     * @param isActive whether the caller is not cancelled: a time limit inside the attempt has ended it then.
     */
    fun isRetryable(failure: Throwable, isActive: Boolean): Boolean =
        guarded(failure) { arithmetic.isRetryable(number, failure, isCancellation(failure, isActive)) }

    /** The attempt that follows a failure that [isRetryable]; null if the call ends with [ending]. */
    fun afterFailure(failure: Throwable): RetryAttempt? =
        guarded(failure) { next(failure) { retryAfter(failure) } }
            ?.also {
                if (failures.size == MOST_SUPPRESSED) failures.removeFirst()
                failures.addLast(failure)
            }

    /** After a refusal that names a time, the wait lasts at least so long. A half-open breaker may close before. */
    private fun retryAfter(failure: Throwable): Duration? {
        val asked = policy.retryAfter(failure)
        if (failure is CircuitOpenException && failure.mayCloseBefore) return asked
        val named = (failure as? Refusal)?.retryIn ?: return asked
        return if (asked == null) named else maxOf(asked, named)
    }

    /** The attempt that follows a result that was not accepted; null if the call ends with that. */
    fun <T> afterResult(result: T, retryAfter: ((T) -> Duration?)?): RetryAttempt? =
        guarded(null) { next(null) { retryAfter?.invoke(result) } }

    /** The failure of a call that ends with a [result] that was not accepted; null if that is returned. */
    fun failureAfter(result: Any?): Throwable? {
        if (!policy.failAfterLast) return null
        val message = "attempt $number of ${policy.label} had a result that was not accepted"
        return ending(ResultNotAcceptedException(message, result))
    }

    /** Ends the call with [failure]: adds to it the last ones before it. */
    fun <E : Throwable> ending(failure: E): E {
        for (earlier in failures) suppress(earlier, failure)
        return failure
    }

    private inline fun next(failure: Throwable?, retryAfter: () -> Duration?): RetryAttempt? {
        if (number >= policy.maxAttempts) return null
        val wait = arithmetic.waitAfter(number, retryAfter()) { start?.read()?.nanoseconds ?: Duration.ZERO }
        if (wait == RetryArithmetic.GIVE_UP) return null
        if (policy.budget?.trySpend() == false) return null
        val attempt = RetryAttempt(++number, failure, wait)
        policy.onRetry(attempt)
        return attempt
    }

    /** An exception of a function of the policy ends the call; the failures are not lost. */
    private inline fun <R> guarded(failure: Throwable?, decide: () -> R): R =
        try {
            decide()
        } catch (e: Throwable) {
            ending(e)
            if (failure != null) suppress(failure, e)
            throw e
        }
}

private const val MOST_SUPPRESSED = 10

/** Adds [earlier] to what [failure] suppresses. One that is thrown again and again must not grow. */
internal fun suppress(earlier: Throwable, failure: Throwable) {
    val suppressed = failure.suppressed
    if (suppressed.size < MOST_SUPPRESSED && earlier !== failure && suppressed.none { it === earlier })
        failure.addSuppressed(earlier)
}

/** @param isActive whether the caller is not cancelled: a time limit inside its block has ended that then. */
internal fun isCancellation(failure: Throwable, isActive: Boolean): Boolean =
    failure is InterruptedException ||
        failure is CancellationException && !(isActive && failure is TimeoutCancellationException)
