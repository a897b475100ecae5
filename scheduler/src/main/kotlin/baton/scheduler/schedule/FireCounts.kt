package baton.scheduler.schedule

/** The counters of a [FireCore]. The lock of its table guards them. */
internal class FireCounts {
    var fired = 0L
    var failed = 0L
    var skipped = 0L
    var running = 0
    val lags = LagHistogram()
}
