package baton.monitoring.core

import baton.monitoring.Alert
import baton.monitoring.Usage

/**
 * The bounds of [Usage.share] for an alert of this [kind].
 *
 * @property raiseAt the share from which on it is raised.
 * @property clearBelow the share below which it is cleared.
 */
internal class AlertBounds(val kind: Alert.Kind, val raiseAt: Double, val clearBelow: Double) {
    companion object {
        /** For a share that is no reason for an alert. Rules of the source replace them. */
        val NONE = AlertBounds(Alert.Kind.UTILISATION, Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY)

        /** For what is either in use as a whole or not. */
        fun all(kind: Alert.Kind) = AlertBounds(kind, raiseAt = 1.0, clearBelow = 1.0)
    }
}
