@file:JvmSynthetic
@file:Suppress("NEWER_VERSION_IN_SINCE_KOTLIN")

package baton.monitoring

import baton.FOR_JAVA_ALONE
import java.time.Duration as JavaDuration
import kotlin.time.Duration
import kotlin.time.toJavaDuration

/**
 * A call that has ended, or was refused, as the listeners of [MonitoredCalls] see it.
 *
 * @property outcome how it counts.
 * @property duration how long it took; zero if it was refused at once, and if the clock has failed.
 * @property failure the exception with which it ended, which says why it was refused or ignored; null for a result, and
 *   for a future that was cancelled.
 * @property attempts how often the block was begun, the attempts of a hedge included.
 * @property retries how often a retry has begun another attempt, also one that was refused.
 * @property waited the part of [duration] spent in waiting for permits.
 */
public class CallEvent(
    public val outcome: CallOutcome,
    public val duration: Duration,
    public val failure: Throwable? = null,
    public val attempts: Int = 1,
    public val retries: Int = 0,
    public val waited: Duration = Duration.ZERO,
) {
    /** [duration] for Java. */
    @SinceKotlin(FOR_JAVA_ALONE) public fun duration(): JavaDuration = duration.toJavaDuration()

    /** [waited] for Java. */
    @SinceKotlin(FOR_JAVA_ALONE) public fun waited(): JavaDuration = waited.toJavaDuration()

    override fun toString(): String =
        "$outcome after $duration, attempts = $attempts, retries = $retries, waited = $waited" +
            if (failure == null) "" else ": $failure"
}
