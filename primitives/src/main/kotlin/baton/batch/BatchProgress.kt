@file:Suppress("NEWER_VERSION_IN_SINCE_KOTLIN")

package baton.batch

import baton.FOR_JAVA_ALONE
import java.time.Duration as JavaDuration
import kotlin.time.Duration
import kotlin.time.toJavaDuration

/**
 * How far a batch has come. It is immutable.
 *
 * @property done how many items have ended and were handed over with their batch: succeeded, failed or not started. It
 *   never falls, and is [total] at the end.
 * @property total how many items there are; null if that is not known, as of a flow.
 * @property failed how many of [done] have failed.
 * @property retries how many attempts were repetitions, of the items that have ended.
 * @property elapsed the time since the call began.
 */
public class BatchProgress
internal constructor(
    public val done: Long,
    public val total: Long?,
    public val failed: Long,
    public val retries: Long,
    public val elapsed: Duration,
) {
    /** [elapsed] for Java. */
    @SinceKotlin(FOR_JAVA_ALONE) public fun elapsed(): JavaDuration = elapsed.toJavaDuration()

    override fun toString(): String =
        "BatchProgress(done = $done of ${total ?: "unknown"}, failed = $failed, retries = $retries, elapsed = $elapsed)"
}
