package baton.scheduler.schedule

import baton.scheduler.Due
import baton.scheduler.RunOutcome
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskTimeoutException
import baton.scheduler.tasks.nameOf
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Job
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job
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
        firing.job = task
        if (firing.interruption != null) cancel(firing)
        task.invokeOnCompletion { cause ->
            if (!firing.hasEnded) refused(firing, cause ?: CancellationException("not begun"))
        }
    }

    /** [firing] was interrupted. */
    fun cancel(firing: Firing<K>) {
        firing.job?.cancel(CancellationException("the run of '${nameOf(firing.key)}' was cancelled"))
    }

    /**
     * The run could not be handed over, or ended before it began: the schedule has ended, perhaps for want of its
     * executor, or the run was cancelled.
     */
    private fun refused(firing: Firing<K>, cause: Throwable) {
        val outcome = if (isEnding()) null else RunOutcome.FAILED
        // A next run would be refused, too, unless this one was cancelled.
        val now = if (firing.interruption == null) null else timeOr(firing.at)
        val next = fires.end(firing, outcome, now)
        if (firing.outcome == RunOutcome.FAILED) core.report(firing.key, cause)
        next?.let(::handOver)
    }

    private fun timeOr(otherwise: Long): Long =
        try {
            core.now()
        } catch (_: Throwable) {
            otherwise
        }

    private suspend fun perform(firing: Firing<K>) {
        var failure: Throwable? = null
        var limit = Duration.INFINITE
        var now = firing.at
        try {
            firing.job = currentCoroutineContext().job
            if (firing.interruption != null) cancel(firing)
            now = core.now()
            fires.begin(firing, now)?.let {
                limit = core.runTimeout(firing.key)
                within(limit, firing) { action(it) }
            }
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
        val outcome = if (wasCancelled) null else if (failure != null) RunOutcome.FAILED else RunOutcome.SUCCEEDED
        val next = fires.end(firing, outcome, now)
        failureOf(firing, failure, limit)?.let { core.report(firing.key, it) }
        next?.let(::handOver)
    }

    private suspend inline fun within(limit: Duration, firing: Firing<K>, run: () -> Unit) {
        val context = currentCoroutineContext()
        val timer =
            if (limit.isInfinite()) null
            else
                core.clock.schedule(limit, context) {
                    if (fires.interrupt(firing, RunOutcome.TIMED_OUT)) cancel(firing)
                }
        try {
            run()
        } finally {
            timer?.dispose()
        }
    }

    /** What is reported of a run; [failure] is that of the action. */
    private fun failureOf(firing: Firing<K>, failure: Throwable?, limit: Duration): Throwable? {
        val own = failure.takeIf { it !is CancellationException }
        return when (firing.outcome) {
            RunOutcome.FAILED -> failure
            RunOutcome.CANCELLED -> own
            RunOutcome.TIMED_OUT -> {
                val late = TaskTimeoutException("the run of '${nameOf(firing.key)}' took longer than $limit")
                if (own != null) late.addSuppressed(own)
                late
            }
            else -> null
        }
    }

    private companion object {
        const val FIRES_IN_A_ROW = 256
        const val MICROS_PER_MILLI = 1_000L
    }
}
