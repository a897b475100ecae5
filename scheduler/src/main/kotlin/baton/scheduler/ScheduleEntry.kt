package baton.scheduler

import baton.Priority
import java.time.Instant

/**
 * An entry of a [Schedule] as it was at a moment, see [Schedule.entries].
 *
 * @property key of the entry.
 * @property trigger its trigger.
 * @property priority its level.
 * @property nextDue as [Schedule.nextDue] returns it.
 * @property pausedBy why it does not fire; null if it is not paused.
 * @property runningSince when the action of the oldest of its runs that go on has begun; null if none goes on, or all
 *   wait for another attempt.
 * @property lastRun when its last run has ended; null if none has. In whole microseconds. The store keeps it with the
 *   entry's row: after a restart it is that of the last write, which for `every` no run causes.
 * @property lastOutcome how that run has ended; null if none has.
 */
public class ScheduleEntry<out K : Any>
internal constructor(
    public val key: K,
    public val trigger: Trigger,
    public val priority: Priority,
    public val nextDue: Instant?,
    public val pausedBy: PausedBy?,
    public val runningSince: Instant?,
    public val lastRun: Instant?,
    public val lastOutcome: RunOutcome?,
) {
    override fun toString(): String =
        "ScheduleEntry (key = $key, trigger = $trigger, priority = $priority, nextDue = $nextDue, " +
            "pausedBy = $pausedBy, runningSince = $runningSince, lastRun = $lastRun, lastOutcome = $lastOutcome)"
}
