@file:Suppress("NEWER_VERSION_IN_SINCE_KOTLIN")

package baton.monitoring

import baton.FOR_JAVA_ALONE
import baton.monitoring.core.AlertBounds
import java.time.Duration as JavaDuration
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toJavaDuration

/**
 * When a [Monitor] raises an alert, and when it clears it.
 *
 * @property utilisation the share in use from which on an alert is raised, above 0.0 and at most 1.0.
 * @property clearBelow the share below which it is cleared, at least 0.0 (then it never is) and at most [utilisation].
 * @property after how long either condition must hold without a break, at least zero. With zero one look is enough. It
 *   counts from the first look that finds it.
 * @property longestWait how long a caller may wait without an alert, positive. An infinite one raises no such alert.
 * @property longestRun how long a task or a run may take without an alert, positive. An infinite one raises no such
 *   alert.
 * @throws IllegalArgumentException if a number is out of its bounds.
 */
public class AlertRules(
    public val utilisation: Double = 0.70,
    public val clearBelow: Double = 0.60,
    public val after: Duration = 5.seconds,
    public val longestWait: Duration = 30.seconds,
    public val longestRun: Duration = Duration.INFINITE,
) {
    internal val bounds: AlertBounds = AlertBounds(Alert.Kind.UTILISATION, utilisation, clearBelow)

    init {
        require(utilisation > 0 && utilisation <= 1) { "utilisation = $utilisation, must be above 0.0 and at most 1.0" }
        require(clearBelow >= 0 && clearBelow <= utilisation) {
            "clearBelow = $clearBelow, must be at least 0.0 and at most $utilisation, the utilisation"
        }
        require(!after.isNegative()) { "after = $after, must be at least 0s" }
        require(longestWait.isPositive()) { "longestWait = $longestWait, must be above 0s" }
        require(longestRun.isPositive()) { "longestRun = $longestRun, must be above 0s" }
    }

    /** [after] for Java. */
    @SinceKotlin(FOR_JAVA_ALONE) public fun after(): JavaDuration = after.toJavaDuration()

    /** [longestWait] for Java. */
    @SinceKotlin(FOR_JAVA_ALONE) public fun longestWait(): JavaDuration = longestWait.toJavaDuration()

    /** [longestRun] for Java. */
    @SinceKotlin(FOR_JAVA_ALONE) public fun longestRun(): JavaDuration = longestRun.toJavaDuration()

    override fun toString(): String =
        "AlertRules (utilisation = $utilisation, clearBelow = $clearBelow, after = $after, " +
            "longestWait = $longestWait, longestRun = $longestRun)"
}
