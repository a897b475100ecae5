@file:JvmSynthetic
@file:Suppress("NEWER_VERSION_IN_SINCE_KOTLIN")

package baton.resilience

import baton.FOR_JAVA_ALONE
import java.time.Duration as JavaDuration
import kotlin.time.Duration
import kotlin.time.toJavaDuration

/**
 * One attempt of a [retry].
 *
 * ```
 * val body = retry { attempt ->
 *     if (attempt.number > 1) log("attempt ${attempt.number} after ${attempt.delay}: ${attempt.lastFailure}")
 *     fetch(url)
 * }
 * ```
 *
 * @property number the number of the attempt, from 1.
 * @property lastFailure the failure of the attempt before; null in the first attempt, and after a result that was not
 *   accepted.
 * @property delay the wait between the attempt before and this one; zero for the first.
 */
public class RetryAttempt(public val number: Int, public val lastFailure: Throwable?, public val delay: Duration) {
    /** [delay] for Java. */
    @SinceKotlin(FOR_JAVA_ALONE) public fun delay(): JavaDuration = delay.toJavaDuration()

    override fun toString(): String = "attempt $number after $delay"
}

/** The first attempt of every call. */
internal val FIRST_ATTEMPT: RetryAttempt = RetryAttempt(1, null, Duration.ZERO)
