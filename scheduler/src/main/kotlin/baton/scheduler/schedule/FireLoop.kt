package baton.scheduler.schedule

import baton.scheduler.Due
import baton.scheduler.TaskScheduler
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Job
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield

/** The loop that fires the entries of a schedule, and the tasks that run their actions. */
internal class FireLoop<K : Any>(
    private val core: ScheduleCore<K>,
    private val fires: FireCore<K>,
    private val times: LoopTimes<K>,
    private val tasks: TaskScheduler,
    /** The job of the actions. */
    private val actions: Job,
    /** Whether the schedule ends: then a run that has not begun stays due. */
    private val isEnding: () -> Boolean,
    private val action: suspend (Due<K>) -> Unit,
) {
    /** Fires what is due, and sleeps until more is due. */
    suspend fun fireAndSleep() {
        val now = core.now()
        fires.startedAt = minOf(fires.startedAt, now)
        // A smaller step would only repeat due times that have just fired.
        if (now < core.replaceLatest(now) - ScheduleCore.CLOCK_STEP_MICROS) times.moveBack(now, core::report)
        fireAll(now)
        sleep()
    }

    suspend fun fireAll(now: Long) {
        var count = 0
        while (true) {
            handOver(fires.takeTriggered(now) ?: break)
            if (++count % FIRES_IN_A_ROW == 0) yield()
        }
        while (fires.peek(now)) {
            fires.fire(now, core::report)?.let(::handOver)
            // The actions may have the same thread.
            if (++count % FIRES_IN_A_ROW == 0) yield()
        }
    }

    private suspend fun sleep() {
        val micros = times.sleepTime(core.now())
        val millis = -Math.floorDiv(-micros, MICROS_PER_MILLI)
        val isWoken = millis > 0 && withTimeoutOrNull(millis.milliseconds) { core.table.wakeUps.receive() } != null
        if (!isWoken) yield()
    }

    private fun handOver(firing: Firing<K>) {
        val task =
            try {
                tasks.schedule(firing.priority) { perform(firing) }
            } catch (e: Throwable) {
                return refused(firing, e)
            }
        task.invokeOnCompletion { cause ->
            if (!firing.hasEnded) refused(firing, cause ?: CancellationException("not begun"))
        }
    }

    /** The run could not be handed over, or the schedule, perhaps for want of its executor, ended before it began. */
    private fun refused(firing: Firing<K>, cause: Throwable) {
        val isEnding = isEnding()
        fires.end(firing, wasCancelled = isEnding, hasFailed = !isEnding, now = null)
        if (!isEnding) core.report(firing.key, cause)
    }

    private suspend fun perform(firing: Firing<K>) {
        var failure: Throwable? = null
        var now = firing.at
        try {
            now = core.now()
            fires.begin(firing, now)?.let { action(it) }
        } catch (e: Throwable) {
            failure = e
        }
        try {
            now = core.now()
        } catch (e: Throwable) {
            // The run has ended all the same, and its last known time is good enough for the next.
            val first = failure
            if (first == null) failure = e else if (first !== e) first.addSuppressed(e)
        }
        // An action may cancel its own job, or a child of it fail: only the end of the schedule cancels a run.
        val wasCancelled = failure != null && !actions.isActive
        val hasFailed = failure != null && !wasCancelled
        val next = fires.end(firing, wasCancelled, hasFailed, now)
        if (failure != null && hasFailed) core.report(firing.key, failure)
        next?.let(::handOver)
    }

    private companion object {
        const val FIRES_IN_A_ROW = 256
        const val MICROS_PER_MILLI = 1_000L
    }
}
