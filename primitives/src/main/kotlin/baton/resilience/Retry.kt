package baton.resilience

import baton.resilience.attempts.RetryRun
import baton.resilience.attempts.waitFor
import baton.waiting.clock.BoundClock
import baton.waiting.clock.onClock
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.coroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.isActive
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull

/**
 * Runs [block] until it succeeds, at most as often as [policy] allows, and returns its result.
 *
 * ```
 * val body = retry { fetch(url) }
 * val answer = retry(
 *     policy,
 *     retryResult = { it.status == 429 || it.status == 503 },
 *     resultRetryAfter = { RetryAfter.parse(it.retryAfter) },
 * ) { attempt -> send(attempt.number) }
 * ```
 *
 * *Waiting.* Between two attempts it suspends for the back-off with its jitter, in the clock of the policy or, if that
 * has none, of the caller's dispatcher, or for the Retry-After if that is longer: never less than that, because it is
 * rounded up to whole milliseconds. A wait that policy does not allow is not begun: the call ends at once.
 *
 * *The end.* When no other attempt follows, the last failure is thrown, with the ten failures before it as suppressed;
 * if the last attempt had a result that was not accepted, that result is returned, or [ResultNotAcceptedException]
 * thrown if [RetryPolicy.failAfterLast] says so. Exceptions of the functions given here or in the policy end the call.
 *
 * *Results.* An accepted result is always returned, even by a coroutine that was cancelled meanwhile. One that was not
 * accepted is dropped when another attempt follows, when the coroutine is cancelled, and when a function throws. So a
 * result that has to be closed is no case for [retryResult]: the block closes it and throws an exception for which
 * [RetryPolicy.retryIf] is true.
 *
 * *Cancellation.* Ends a wait at once. It is never retried: a `CancellationException` of the block ends the call,
 * except for a `TimeoutCancellationException` of the block's own while the caller is not cancelled. In a cancelled
 * coroutine the block is not called again. The attempt that follows a timeout begins after the clean-up of the timed
 * out attempt.
 *
 * *Order* and *Memory.* None beyond that the attempts of a call follow each other.
 *
 * Repeat only blocks that may run several times. A call whose first attempt succeeds waits for nothing, and allocates
 * nothing but the frame of the suspend function.
 *
 * @param retryResult whether a result is worth another attempt, as a failure is. It is called for the last one, too.
 * @param resultRetryAfter the time that such a result asks to wait at least, or null.
 */
public suspend fun <T> retry(
    policy: RetryPolicy = DEFAULT_RETRY_POLICY,
    retryResult: ((T) -> Boolean)? = null,
    resultRetryAfter: ((T) -> Duration?)? = null,
    block: suspend (RetryAttempt) -> T,
): T {
    val start = policy.start(coroutineContext)
    var run: RetryRun? = null
    var attempt = FIRST_ATTEMPT
    while (true) {
        var failure: Throwable? = null
        var result: Any? = null
        try {
            result = if (policy.attemptTimeout.isInfinite()) block(attempt) else inTime(policy, attempt, block)
        } catch (e: Throwable) {
            failure = e
        }
        @Suppress("UNCHECKED_CAST")
        if (failure == null && (retryResult == null || !retryResult(result as T))) {
            policy.budget?.earn()
            return result as T
        }
        val sure = run ?: RetryRun(policy, start).also { run = it }
        @Suppress("UNCHECKED_CAST")
        attempt =
            if (failure != null)
                afterFailure(sure, failure, coroutineContext.isActive) { coroutineContext.ensureActive() }
            else {
                coroutineContext.ensureActive()
                sure.afterResult(result as T, resultRetryAfter) ?: return endOf(sure, result)
            }
        if (attempt.delay > Duration.ZERO) waitFor(policy.clock, attempt.delay)
        coroutineContext.ensureActive()
    }
}

private fun <T> endOf(run: RetryRun, result: T): T {
    run.failureAfter(result)?.let { throw it }
    return result
}

private inline fun afterFailure(
    run: RetryRun,
    failure: Throwable,
    isActive: Boolean,
    throwIfCancelled: () -> Unit,
): RetryAttempt {
    if (!run.isRetryable(failure, isActive)) throw run.ending(failure)
    throwIfCancelled()
    return run.afterFailure(failure) ?: throw run.ending(failure)
}

/** The clock of a call that begins; null if no decision needs the elapsed time. */
internal fun RetryPolicy.start(context: CoroutineContext = EmptyCoroutineContext): BoundClock? =
    if (maxElapsed.isInfinite()) null else BoundClock(clock, context = context)

/** The message of an [AttemptTimeoutException]. */
internal fun RetryPolicy.lateMessage(attempt: RetryAttempt): String {
    val which = if (maxAttempts == 1) "an attempt" else "attempt ${attempt.number}"
    return "$which of $label not done within $attemptTimeout"
}

private suspend fun <T> inTime(policy: RetryPolicy, attempt: RetryAttempt, block: suspend (RetryAttempt) -> T): T {
    var returned: Box<T>? = null
    var late: Throwable? = null
    // Kept here, because kotlinx.coroutines would throw a copy of it.
    var failure: Throwable? = null
    try {
        withTimeoutBy(policy) {
            try {
                returned = Box(block(attempt))
            } catch (e: Throwable) {
                // An exception of the clean-up must not hide that the attempt was late.
                if (e !is Error) {
                    if (e !is CancellationException) late = e
                    ensureActive()
                }
                failure = e
            }
        }
    } catch (e: CancellationException) {
        // Without a time limit, the end of a cancelled coroutine's block is that of the call, too.
        if (returned == null && failure == null) throw e
    }
    failure?.let { throw it }
    returned?.let {
        return it.value
    }
    throw AttemptTimeoutException(policy.lateMessage(attempt)).also { e -> late?.let(e::addSuppressed) }
}

/** The [block] runs on the dispatcher of the caller, whatever the clock. */
private suspend fun withTimeoutBy(policy: RetryPolicy, block: suspend CoroutineScope.() -> Unit) {
    val timeout = policy.attemptTimeout
    val own = coroutineContext
    if (policy.clock == null) withTimeoutOrNull(timeout, block)
    else
        withContext(own.onClock(policy.clock)) {
            withTimeoutOrNull(timeout) { withContext(own[ContinuationInterceptor] ?: Dispatchers.Default, block) }
        }
}

private class Box<T>(val value: T)
