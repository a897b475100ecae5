package guide.schedules

import baton.Priority
import baton.scheduler.Due
import baton.scheduler.Schedule
import baton.scheduler.Trigger
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.launch

class Checks(scope: CoroutineScope, check: suspend (Due<String>) -> Unit) {
    val schedule = Schedule<String>(maxConcurrency = 200, name = "checks", action = check)
    private val running: Job = scope.launch { schedule.run() } // until it is cancelled

    fun watch(host: String) {
        schedule.put(host, Trigger.every(2.minutes))
        schedule.put("$host/login", Trigger.fixedDelay(30.seconds), Priority.HIGH)
    }

    fun stop() = running.cancel() // lets running actions end, for ten seconds at most
}
