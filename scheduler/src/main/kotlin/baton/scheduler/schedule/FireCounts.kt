package baton.scheduler.schedule

import baton.scheduler.RunOutcome

/** The counters of a [FireCore]. The lock of its table guards them. */
internal class FireCounts {
    var fired = 0L
    var succeeded = 0L
    var failed = 0L
    var timedOut = 0L
    var cancelled = 0L

    /** The attempts on which another one follows. */
    var retried = 0L
    var skipped = 0L
    var running = 0
    val lags = LagHistogram()

    /** A run has ended. */
    fun ended(outcome: RunOutcome) {
        when (outcome) {
            RunOutcome.SUCCEEDED -> succeeded++
            RunOutcome.FAILED -> failed++
            RunOutcome.TIMED_OUT -> timedOut++
            RunOutcome.CANCELLED -> cancelled++
        }
    }
}
