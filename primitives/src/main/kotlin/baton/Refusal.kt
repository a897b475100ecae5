@file:JvmSynthetic

package baton

import java.time.Duration as JavaDuration
import kotlin.time.Duration
import kotlin.time.toKotlinDuration

/**
 * Implemented by exceptions that mean: the call was not admitted, so the protected code did not run. Examples are a
 * full semaphore, a rate limiter, an open circuit breaker and a task scheduler that rejects a task.
 *
 * ```
 * class QuotaExceededException(val left: Duration) : IOException("no quota"), Refusal {
 *     override fun retryIn() = left.toJavaDuration()
 * }
 * ```
 *
 * A refusal says nothing about the callee. A circuit breaker counts it as neither a failure nor a success. A retry does
 * not repeat it by default; a `retryIf` of the user decides alone.
 *
 * It is an interface because some of its exceptions are a `TimeoutException` and others an `IllegalStateException`.
 * Exceptions of an application may implement it.
 */
public interface Refusal {
    /**
     * The time after which another call may be admitted; null if it is not known. A retry whose `retryIf` accepts the
     * exception waits at least so long.
     */
    public fun retryIn(): JavaDuration? = null
}

/** [Refusal.retryIn] for Kotlin. The longest time that Java has is infinite. */
public val Refusal.retryIn: Duration?
    get() = retryIn()?.toKotlinDuration()
