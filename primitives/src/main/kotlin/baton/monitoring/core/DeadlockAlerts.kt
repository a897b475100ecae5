package baton.monitoring.core

import baton.monitoring.Alert
import baton.monitoring.Deadlock
import baton.waiting.holders.DeadlockDetection
import kotlin.time.Duration

/**
 * The alerts about deadlocks of one monitor. An alert is raised once a deadlock has stood for the time of the rules,
 * and at least a second. It is cleared at the first look that does not find the deadlock any more, for that does not
 * come back.
 *
 * Used by the monitor's coroutine alone, except [raised].
 *
 * @param onLook gets the graph of each look.
 */
internal class DeadlockAlerts(after: Duration, clock: LookClock, private val onLook: (WaitForGraph) -> Unit) {
    private val search = DeadlockSearch(clock::now, maxOf(after, DeadlockSearch.MIN_STANDING))

    /** By the key of the search. */
    @Volatile private var alerts = emptyMap<Any, Alert>()

    /** The alerts that are raised. */
    val raised: Collection<Alert>
        get() = alerts.values

    /** One look of the monitor's coroutine. Calls [onAlert] for each change. */
    fun look(onAlert: (Alert) -> Unit) {
        if (!DeadlockDetection.isOn) return
        val graph = WaitForGraph(DeadlockDetection.looks())
        onLook(graph)
        val before = alerts
        val now = search.find(graph).associate { (key, deadlock) -> key to (before[key] ?: alert(deadlock)) }
        alerts = now
        (before - now.keys).values.forEach { onAlert(Alert(it.kind, it.source, value = 0.0, it.bound, false, null)) }
        (now - before.keys).values.forEach(onAlert)
    }

    private fun alert(deadlock: Deadlock): Alert {
        val locks = deadlock.cycle.joinToString { it.waitsFor }
        return Alert(Alert.Kind.DEADLOCK, locks, value = 1.0, bound = 1.0, raised = true, usage = null)
    }
}
