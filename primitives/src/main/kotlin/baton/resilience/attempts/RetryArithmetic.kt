@file:JvmSynthetic

package baton.resilience.attempts

import baton.resilience.Jitter
import baton.resilience.RetryPolicy
import kotlin.random.Random
import kotlin.random.nextLong
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds

/**
 * The arithmetic of a retry: knows neither coroutines nor futures nor a clock.
 *
 * Times are nanoseconds in a Long, at most 292 years, and every operation saturates:
 * 1. The back-off of the attempt, within 0 and `maxDelay`; a constant one has no such bound.
 * 2. The jitter, and again the bounds 0 and `maxDelay`. Decorrelated jitter grows, so it has the bound, but for the
 *    constant wait itself.
 * 3. At least the Retry-After, rounded up to whole milliseconds, because a timer may drop parts of them.
 */
internal class RetryArithmetic(
    private val policy: RetryPolicy,
    /** The last back-off with its jitter; below zero before the first retry. */
    private var previous: Long = -1,
) {
    private val longest =
        when {
            !policy.isConstant -> policy.maxDelay
            policy.jitter == Jitter.Decorrelated -> maxOf(policy.maxDelay, policy.backoff.delay(1))
            else -> Duration.INFINITE
        }.inWholeNanoseconds

    /** Whether a failure after [attempt] may lead to another attempt at all. */
    fun isRetryable(attempt: Int, failure: Throwable, isCancellation: Boolean): Boolean =
        attempt < policy.maxAttempts && failure !is Error && !isCancellation && policy.retryIf(failure)

    /** The wait after [attempt], or [GIVE_UP]. The function [elapsed] is called only if `maxElapsed` is finite. */
    inline fun waitAfter(attempt: Int, retryAfter: Duration?, elapsed: () -> Duration): Duration {
        if (attempt >= policy.maxAttempts) return GIVE_UP
        if (retryAfter != null && (retryAfter > policy.maxRetryAfter || retryAfter.isInfinite())) return GIVE_UP
        val backoff = backoffAfter(attempt, policy.random).nanoseconds
        val wait = if (retryAfter == null) backoff else maxOf(backoff, wholeMillisOf(retryAfter))
        if (policy.maxElapsed.isFinite() && elapsed() + wait > policy.maxElapsed) return GIVE_UP
        return wait
    }

    /** The back-off with its jitter, in nanoseconds. */
    fun backoffAfter(attempt: Int, random: Random): Long {
        val jittered =
            when (val jitter = policy.jitter) {
                Jitter.None -> delay(attempt)
                Jitter.Full -> between(0, delay(attempt), random)
                Jitter.Equal -> delay(attempt).let { between(it / 2, it, random) }
                Jitter.Decorrelated -> decorrelated(random)
                is Jitter.Factor -> {
                    val delay = delay(attempt)
                    val spread = (delay * jitter.factor).toLong().coerceAtMost(delay)
                    between(delay - spread, saturated(delay, spread), random)
                }
            }
        previous = jittered.coerceIn(0, longest)
        return previous
    }

    private fun delay(attempt: Int) = policy.backoff.delay(attempt).inWholeNanoseconds.coerceIn(0, longest)

    private fun decorrelated(random: Random): Long {
        val base = policy.backoff.delay(1).inWholeNanoseconds.coerceAtLeast(0)
        val last = if (previous < 0) base else previous
        val most = if (last > Long.MAX_VALUE / TRIPLE) Long.MAX_VALUE else last * TRIPLE
        return between(base, most.coerceAtLeast(base), random)
    }

    /** Of the generators only the default one is known to be thread-safe, and calls share that of their policy. */
    private fun between(low: Long, high: Long, random: Random): Long =
        if (random === Random.Default) random.nextLong(low..high)
        else synchronized(random) { random.nextLong(low..high) }

    private fun saturated(a: Long, b: Long): Long = (a + b).let { if (it < 0) Long.MAX_VALUE else it }

    internal companion object {
        /** Less than any wait. */
        val GIVE_UP = -Duration.INFINITE

        private const val TRIPLE = 3L
    }
}

/** The time in whole milliseconds, rounded up; zero if it is negative. */
internal fun wholeMillisOf(time: Duration): Duration {
    if (!time.isPositive() || time.isInfinite()) return time.coerceAtLeast(Duration.ZERO)
    val whole = time.inWholeMilliseconds.milliseconds
    return if (whole < time) whole + 1.milliseconds else whole
}
