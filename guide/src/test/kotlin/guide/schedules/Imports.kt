package guide.schedules

import baton.monitoring.AlertRules
import baton.monitoring.Monitor
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.runInterruptible

fun startImports(scope: CoroutineScope, import: (String) -> Unit, warn: (String) -> Unit): Schedule<String> {
    val config = ScheduleConfig(runTimeout = { 30.seconds }, onFailure = { key, e -> warn("$key: $e") })
    val schedule =
        Schedule<String>(name = "imports", config = config) { due ->
            runInterruptible(Dispatchers.IO) { import(due.key) } // interrupted after 30 s
        }
    val monitor = Monitor(scope, rules = AlertRules(longestRun = 2.minutes)) { alert -> warn("$alert") }
    monitor.watch(schedule) // reports a run that takes longer all the same
    return schedule
}
