package baton.scheduler.schedule

import baton.clock
import baton.resilience.Backoff
import baton.resilience.Jitter
import baton.resilience.RetryBudget
import baton.resilience.RetryPolicy
import baton.scheduler.Overlap
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.Trigger
import java.time.Instant
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds

/** Policies and triggers of runs that are tried again. */
internal abstract class RunRetryFixture {
    protected val every10 = Trigger.every(10.seconds, anchor = Instant.EPOCH)
    protected val at10 = Trigger.at(Instant.ofEpochSecond(10))

    protected fun policy(
        attempts: Int = 3,
        wait: Duration = 3.seconds,
        maxElapsed: Duration = Duration.INFINITE,
        attemptTimeout: Duration = Duration.INFINITE,
        budget: RetryBudget? = null,
        retryIf: (Throwable) -> Boolean = { true },
    ) =
        RetryPolicy(
            attempts,
            Backoff.constant(wait),
            Jitter.None,
            maxElapsed = maxElapsed,
            attemptTimeout = attemptTimeout,
            retryIf = retryIf,
            budget = budget,
        )

    protected fun ScheduleWorld.retrying(
        policy: RetryPolicy?,
        overlap: Overlap = Overlap.SKIP,
        runTimeout: Duration = Duration.INFINITE,
    ) =
        config(overlap = overlap).let {
            ScheduleConfig(
                overlap = overlap,
                onFailure = it.onFailure,
                clock = it.clock,
                runTimeout = { runTimeout },
                retry = { policy },
            )
        }

    /** Fired, succeeded, failed, cancelled, retried, running. */
    protected fun Schedule<*>.counts() =
        metrics.run { listOf(fired, succeeded, failed, cancelled, retried, running.toLong()) }
}
