package baton.scheduler.tasks

import baton.scheduler.SchedulerClosedException
import baton.scheduler.TaskDeadlineException
import baton.scheduler.TaskRejectedException
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskShedException
import baton.scheduler.TaskTimeoutException
import baton.waiting.flight.FlightEvents
import baton.waiting.threads.Trampoline
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.CancellationException

/** The failure of [task], which has ended without having been started. */
internal fun TaskScheduler.refusal(task: TaskEntry, end: TaskEnd, deadline: Duration?): Exception {
    val refusal = newRefusal(aboutOf(task), end, deadline)
    // A task that was removed from the queue is cancelled, and was not refused.
    return if (end == TaskEnd.WITHDRAWN) refusal else FlightEvents.refused(label, refusal)
}

private fun TaskScheduler.newRefusal(about: String, end: TaskEnd, deadline: Duration?): Exception =
    when (end) {
        TaskEnd.REJECTED -> TaskRejectedException("no room for $about, capacity = ${config.capacity}: $this")
        TaskEnd.SHED ->
            TaskShedException("$about made room for a more urgent one, capacity = ${config.capacity}: $this")
        TaskEnd.EXPIRED -> TaskDeadlineException("$about was not started within $deadline: $this")
        TaskEnd.WITHDRAWN -> CancellationException("$about was removed from the queue: $this")
        else -> SchedulerClosedException("$about was not started: $this", core.closure)
    }

/** The failure of [task] now that its [limit] is over, which counts from its submission or, if it [isOfRun], start. */
internal fun TaskScheduler.timeoutOf(task: TaskEntry, limit: Duration, isOfRun: Boolean): TaskTimeoutException {
    val run = core.runTime(task)?.nanoseconds
    val detail =
        when {
            isOfRun -> " of its start"
            run == null -> ", and was not started"
            else -> ", of which it ran for $run"
        }
    return TaskTimeoutException("${aboutOf(task)} has not ended within $limit$detail: $this")
}

private fun aboutOf(task: TaskEntry) = "${labelOf(task.shownKey)} of priority ${task.basePriority}"

/** Whether a task with that failure, or null, has failed: a cancellation is no failure. */
internal fun isFailure(e: Throwable?): Boolean = e != null && e !is CancellationException

/** Passes the failure of the task with that [key] to the user's listener. */
internal fun <K> report(listener: (K, Throwable) -> Unit, key: K, failure: Throwable) {
    try {
        listener(key, failure)
    } catch (e: Throwable) {
        if (e !== failure) e.addSuppressed(failure)
        Trampoline.report(e)
    }
}
