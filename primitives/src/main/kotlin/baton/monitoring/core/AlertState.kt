package baton.monitoring.core

import baton.monitoring.Alert
import baton.monitoring.Usage
import kotlin.time.Duration

/**
 * One kind of alert about one source.
 *
 * ```
 *   CLEARED ──── out of bounds for `after` without a break ───▶ RAISED
 *           ◀─── below the clearing bound for as long ─────────
 * ```
 *
 * Used by the monitor's coroutine alone, except [raised].
 */
internal class AlertState(private val clock: LookClock) {
    /** The alert, while it is raised. */
    @Volatile
    var raised: Alert? = null
        private set

    /** The first of the looks in a row that saw what would change the state. */
    private var since: Long? = null

    /** Returns the alert to pass on, raised or cleared; null if nothing has changed. */
    fun look(
        kind: Alert.Kind,
        source: String,
        value: Double,
        raiseAt: Double,
        clearBelow: Double,
        after: Duration,
        usage: Usage?,
    ): Alert? {
        val isRaised = raised != null
        val isDue = if (isRaised) value < clearBelow else value >= raiseAt
        if (!isDue) since = null
        if (!isDue || !hasLasted(after)) return null
        since = null
        val alert = Alert(kind, source, value, if (isRaised) clearBelow else raiseAt, !isRaised, usage)
        raised = if (isRaised) null else alert
        return alert
    }

    /** A look that failed is a break. */
    fun interrupt() {
        since = null
    }

    private fun hasLasted(after: Duration): Boolean {
        val start = since ?: clock.now.also { since = it }
        return clock.since(start) >= after
    }
}
