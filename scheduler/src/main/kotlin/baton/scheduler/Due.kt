@file:Suppress("NEWER_VERSION_IN_SINCE_KOTLIN")

package baton.scheduler

import baton.Priority
import java.time.Duration as JavaDuration
import java.time.Instant
import kotlin.time.Duration
import kotlin.time.toJavaDuration

/**
 * One run of an entry of a [Schedule].
 *
 * @property key the entry.
 * @property at when it was due: the time of the trigger, however late the run is. For [Schedule.triggerNow] it is when
 *   the schedule took up the request.
 * @property lag how long after [at] the action began, the wait for a free place included.
 * @property priority the level of the entry, at which the action runs.
 * @property missed how many due times passed without a run of their own, which this run stands for: at most
 *   `Int.MAX_VALUE`; see [Misfire].
 * @param data the bytes that were put with the entry.
 */
public class Due<out K>(
    public val key: K,
    public val at: Instant,
    public val lag: Duration,
    public val priority: Priority,
    public val missed: Int,
    data: ByteArray? = null,
) {
    private val bytes = data

    /** A copy of the bytes that were put with the entry; null if there are none. As they were when the action began. */
    public val data: ByteArray?
        get() = bytes?.clone()

    /** [data] as a string in UTF-8: `put(key, trigger, data = "text".encodeToByteArray())`. */
    public val text: String?
        get() = bytes?.decodeToString()

    /** [lag] for Java. */
    @SinceKotlin(FOR_JAVA_ALONE) public fun lag(): JavaDuration = lag.toJavaDuration()

    override fun toString(): String = "Due (key = $key, at = $at, lag = $lag, priority = $priority, missed = $missed)"
}
