package baton.test.interleaving

import baton.BatonClock
import java.time.Duration
import java.time.Instant

/** The virtual time of a run. It begins at the same date each time, so that no run depends on the real one. */
internal class ExplorerClock(private val explorer: Explorer) : BatonClock {
    override fun instant(): Instant = START.plusNanos(explorer.nanos)

    override fun nanoTime(): Long = explorer.nanos

    override fun schedule(delay: Duration, task: Runnable): AutoCloseable {
        val nanos = if (delay > LONGEST) Long.MAX_VALUE else delay.toNanos()
        val timer = explorer.scheduleTask(nanos, task)
        return AutoCloseable { timer.dispose() }
    }

    override fun toString(): String = "the virtual time of explore"

    private companion object {
        val START: Instant = Instant.parse("2000-01-01T00:00:00Z")
        val LONGEST: Duration = Duration.ofNanos(Long.MAX_VALUE)
    }
}
