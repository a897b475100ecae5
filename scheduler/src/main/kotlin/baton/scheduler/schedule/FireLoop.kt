package baton.scheduler.schedule

import baton.bridge.succeeded
import baton.scheduler.Due
import baton.scheduler.RunOutcome
import baton.scheduler.ScheduleConfig
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskTimeoutException
import baton.scheduler.tasks.nameOf
import baton.waiting.flight.FlightEvents
import baton.waiting.flight.RecordedAttempt
import kotlin.coroutines.CoroutineContext
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
    config: ScheduleConfig,
    private val core: ScheduleCore<K>,
    private val fires: FireCore<K>,
    private val times: LoopTimes<K>,
    private val tasks: TaskScheduler,
    /** The job of the actions. */
    private val actions: Job,
    /** Whether the schedule ends: then a run that has not begun stays due. */
    private val isEnding: () -> Boolean,
    /** The schedule in messages. */
    private val label: String,
    private val action: suspend (Due<K>) -> Unit,
) {
    private val retries = RunRetries(config, core, fires, isEnding, ::handOver)

    /** Fires what is due, and sleeps until more is due. */
    suspend fun fireAndSleep() {
        applyPause()
        val now = core.now()
        fires.startedAt = minOf(fires.startedAt, now)
        // A smaller step would only repeat due times that have just fired.
        if (now < core.replaceLatest(now) - ScheduleCore.CLOCK_STEP_MICROS) times.moveBack(now, core::report)
        fireAll(now)
        sleep()
    }

    /** No run begins while the schedule is paused as a whole. Any thread may call this after a change of that. */
    fun applyPause() {
        while (true) {
            val isPaused = core.isPaused
            if (tasks.isPaused == isPaused) return
            if (isPaused) tasks.pause() else tasks.resume()
        }
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
        for (attempt in 1..MOST_TIMERS) {
            val now = core.now()
            val micros = times.sleepTime(now)
            if (micros == Times.NEVER) return core.table.wakeUps.receive()
            val millis = -Math.floorDiv(-micros, MICROS_PER_MILLI)
            if (millis <= 0) break
            var isLate = false
            val isOver =
                withTimeoutOrNull(millis.milliseconds) {
                    // The timer is set. If another thread has advanced the clock before, it is too late by as much.
                    isLate = !core.clock.isReal && attempt < MOST_TIMERS && core.now() != now
                    if (!isLate) core.table.wakeUps.receive()
                } == null
            if (isOver) break
            if (!isLate) return
        }
        yield()
    }

    private fun handOver(firing: Firing<K>) {
        val attempt = firing.attempt + 1
        firing.attempt = attempt
        val task =
            try {
                tasks.schedule(firing.priority) { perform(firing) }
            } catch (e: Throwable) {
                return refused(firing, e)
            }
        // An action that has begun has a job already; in place, the attempt may even be over.
        if (firing.job == null && fires.startsInterrupted(firing, attempt, task)) task.cancel(cancellation(firing))
        task.invokeOnCompletion { cause ->
            if (firing.lastEnded < attempt) refused(firing, cause ?: CancellationException("not begun"))
        }
    }

    /** [firing] was cancelled, so no other attempt follows. */
    fun cancel(firing: Firing<K>) {
        val why = cancellation(firing)
        if (retries.take(firing)) refused(firing, why) else firing.job?.cancel(why)
    }

    private fun cancellation(firing: Firing<K>) =
        CancellationException("the run of '${nameOf(firing.key)}' was cancelled")

    /** The schedule ends: no other attempt follows. */
    fun end() = retries.end()

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
        val context = currentCoroutineContext()
        var failure: Throwable? = null
        var limit = Duration.INFINITE
        var now = firing.at
        var recorded: RecordedAttempt? = null
        try {
            now = core.now()
            fires.begin(firing, now, context.job)?.let {
                recorded = FlightEvents.newAttempt()
                limit = retries.begin(firing, context)
                within(limit, firing, context) { action(it) }
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
        val end = firing.interruption ?: outcome
        recorded?.let { record(it, firing, end) }
        ended(firing, end, failure, limit, now, context)
    }

    private fun record(recorded: RecordedAttempt, firing: Firing<K>, outcome: RunOutcome?) {
        if (recorded.endsRecorded())
            recorded.record(label, nameOf(firing.key), firing.attempt, outcome?.name ?: "ENDED")
    }

    private fun ended(
        firing: Firing<K>,
        outcome: RunOutcome?,
        failure: Throwable?,
        limit: Duration,
        now: Long,
        context: CoroutineContext,
    ) {
        var shown = failureOf(firing, outcome, failure, limit)
        if (shown != null && firing.interruption != RunOutcome.CANCELLED)
            shown = retries.failureAfter(firing, shown, now, context) ?: return
        val next = fires.end(firing, outcome, now)
        if (firing.outcome == RunOutcome.SUCCEEDED) firing.attempts?.run { succeeded(policy) }
        // The run may have been cancelled at the last moment.
        if (firing.outcome == RunOutcome.CANCELLED) shown = failureOf(firing, firing.outcome, failure, limit)
        if (shown != null) core.report(firing.key, shown)
        next?.let(::handOver)
    }

    private suspend inline fun within(limit: Duration, firing: Firing<K>, context: CoroutineContext, run: () -> Unit) {
        val attempt = firing.attempt
        val timer =
            if (limit.isInfinite()) null
            else core.clock.schedule(limit, context) { fires.timeOut(firing, attempt)?.cancel(cancellation(firing)) }
        try {
            run()
        } finally {
            timer?.dispose()
        }
    }

    /** The failure to report of a run that ends as [outcome]; [failure] is that of the action. */
    private fun failureOf(firing: Firing<K>, outcome: RunOutcome?, failure: Throwable?, limit: Duration): Throwable? {
        val own = failure.takeIf { it !is CancellationException }
        return when (outcome) {
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

        /** For a sleep: a clock of users that runs by itself moves between any two readings. */
        const val MOST_TIMERS = 10
        const val MICROS_PER_MILLI = 1_000L
    }
}
