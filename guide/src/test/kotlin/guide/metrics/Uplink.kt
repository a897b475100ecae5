package guide.metrics

import baton.monitoring.AlertRules
import baton.monitoring.Monitor
import baton.sync.Semaphore
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope

class Uplink(scope: CoroutineScope, warn: (String) -> Unit) {
    val slots = Semaphore(8, name = "uplink")

    private val monitor =
        Monitor(scope, rules = AlertRules(utilisation = 0.9, clearBelow = 0.7, after = 5.seconds)) { warn("$it") }

    init {
        monitor.watch(slots)
    }
}
