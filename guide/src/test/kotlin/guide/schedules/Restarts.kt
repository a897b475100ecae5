package guide.schedules

import baton.scheduler.Schedule
import baton.scheduler.ScheduleOwnedException
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking

fun endWithTheJvm(schedule: Schedule<*>): Thread {
    val hook = Thread { runBlocking { schedule.shutdown() } } // Ctrl-C and SIGTERM: frees the tables at once
    Runtime.getRuntime().addShutdownHook(hook)
    return hook
}

suspend fun runOnceFree(newSchedule: () -> Schedule<String>) {
    while (true) {
        try {
            return newSchedule().run() // each over a new store object
        } catch (_: ScheduleOwnedException) {
            delay(1.seconds)
        }
    }
}
