package baton.scheduler

import baton.Priority
import kotlin.time.Duration
import kotlin.time.TimeSource

/**
 * How a [TaskScheduler] orders what it starts, and how much it keeps.
 *
 * *Overdue tasks.* A level of [maxWait] whose first task has waited for longer than is given there is overdue. Then one
 * of [overdueShare] starts goes to the task that is overdue for longest, out of the order of the [policy]. So under a
 * flood of urgent tasks no wait is without end, and however much is overdue, the order of the policy holds for all
 * starts but one of any [overdueShare] in a row: an urgent task never stands behind a backlog because that has grown
 * old. A start that [PriorityPolicy.Bounded] owes to a level comes first, so that its bounds stay exact.
 *
 * @property policy which level is next.
 * @property maxWait after how long a level is overdue; never for those that are not named. Zero or more.
 * @property overdueShare of how many starts in a row at most one goes to what is overdue, at least 2.
 * @property capacity how many tasks may wait for their turn, at least 0; tasks that run do not count. With 0 there is
 *   room only for a task that can be started at once.
 * @property onFull what becomes of a task for which there is no room.
 * @property timeSource measures how long tasks have waited. For a test in virtual time give it
 *   `testScheduler.timeSource`.
 * @throws IllegalArgumentException if a number is out of its bounds.
 */
public class TaskSchedulerConfig(
    public val policy: PriorityPolicy = PriorityPolicy.Bounded(),
    maxWait: Map<Priority, Duration> = emptyMap(),
    public val overdueShare: Int = 4,
    public val capacity: Int = Int.MAX_VALUE,
    public val onFull: OnFullQueue = OnFullQueue.SUSPEND,
    public val timeSource: TimeSource = TimeSource.Monotonic,
) {
    public val maxWait: Map<Priority, Duration> = maxWait.toMap()

    init {
        for ((priority, wait) in this.maxWait) {
            require(!wait.isNegative()) { "the maxWait of $priority must not be negative, was $wait" }
        }
        require(overdueShare >= 2) { "overdueShare must be at least 2, was $overdueShare" }
        require(capacity >= 0) { "capacity must be at least 0, was $capacity" }
    }

    override fun toString(): String =
        "TaskSchedulerConfig (policy = $policy, maxWait = $maxWait, overdueShare = $overdueShare, " +
            "capacity = $capacity, onFull = $onFull, timeSource = $timeSource)"
}
