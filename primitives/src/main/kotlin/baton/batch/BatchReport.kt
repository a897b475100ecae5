@file:Suppress("NEWER_VERSION_IN_SINCE_KOTLIN")

package baton.batch

import baton.FOR_JAVA_ALONE
import java.time.Duration as JavaDuration
import kotlin.time.Duration
import kotlin.time.toJavaDuration

/**
 * The outcome of a batch. Each item that was taken from the source is in exactly one of [succeeded], [failed] and
 * [notStarted]. It is immutable.
 *
 * @property succeeded how many items were done, and their results accepted by `onResult`.
 * @property failed the items whose task or `onResult` has failed, in the order of the items.
 * @property notStarted the items whose task was not begun when `maxFailures` had failed: of an Iterable all the rest,
 *   of a flow those that it had emitted.
 * @property retries how many attempts were repetitions.
 * @property elapsed the time that the call took.
 */
public class BatchReport<T>
internal constructor(
    public val succeeded: Long,
    public val failed: List<Failed<T>>,
    public val notStarted: List<T>,
    public val retries: Long,
    public val elapsed: Duration,
) {
    /** [elapsed] for Java. */
    @SinceKotlin(FOR_JAVA_ALONE) public fun elapsed(): JavaDuration = elapsed.toJavaDuration()

    override fun toString(): String =
        "BatchReport(succeeded = $succeeded, failed = ${failed.size}, notStarted = ${notStarted.size}, " +
            "retries = $retries, elapsed = $elapsed)"

    /**
     * An item that has failed.
     *
     * @property attempts how often its task was begun; 0 if the breaker or the limiter refused it each time.
     * @property cause the failure of the last attempt, or that of `onResult`.
     */
    public class Failed<T>
    internal constructor(public val item: T, public val attempts: Int, public val cause: Throwable) {
        override fun toString(): String = "Failed($item after $attempts attempts: $cause)"
    }
}
