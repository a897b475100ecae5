@file:JvmSynthetic

package baton.scheduler

import baton.BatonClock
import baton.Priority
import kotlin.time.Duration

/**
 * The order in which a [TaskScheduler] starts tasks, and the capacity of its queue.
 *
 * *Overdue tasks.* A level is overdue if it has a [maxWait] and its first task has waited longer than that. Then one of
 * [overdueShare] starts goes to the task that has been overdue for longest, out of the order of the [policy]. So every
 * wait ends, even under a flood of urgent tasks. However many tasks are overdue, of any [overdueShare] starts in a row
 * all but one follow the order of the policy: so an old backlog never delays an urgent task further. A start that
 * [PriorityPolicy.Bounded] owes to a level comes first, so that its bounds stay exact.
 *
 * @property policy selects the level that is next.
 * @property maxWait the wait after which a level is overdue, zero or more; levels that it does not contain are never
 *   overdue.
 * @property overdueShare of this many starts in a row at most one goes out of order to an overdue task; at least 2.
 * @property capacity how many tasks may be queued, at least 0; running tasks do not count. With 0 the scheduler accepts
 *   only a task that can be started at once.
 * @property onFull how a new task is handled while the queue is full.
 * @property clock measures how long tasks have waited, and sets the timers of deadlines; by default that of the
 *   dispatcher of the scope, see [BatonClock]. If it throws in `schedule`, that throws it and adds no task; elsewhere
 *   the thread's handler of uncaught exceptions gets the exception, and the tasks end as without it.
 * @property onFailure called once for each task that fails, also if a caller awaits it, with its key or null, and with
 *   the exception that `await` throws: that of its block, of a timeout, or the refusal of a task that was not started,
 *   which is a [baton.Refusal]. A cancelled task has not failed. It is called on the thread that ends the task, after
 *   its slot is free; [TaskScheduler.drain] and [TaskScheduler.awaitIdle] wait for the call. It must not block. Its
 *   exceptions go to the thread's handler of uncaught exceptions. By default only callers that await a task see its
 *   failure.
 * @throws IllegalArgumentException if a number is out of range.
 */
public class TaskSchedulerConfig(
    public val policy: PriorityPolicy = PriorityPolicy.Bounded.DEFAULT,
    maxWait: Map<Priority, Duration> = emptyMap(),
    public val overdueShare: Int = 4,
    public val capacity: Int = Int.MAX_VALUE,
    public val onFull: OnFullQueue = OnFullQueue.SUSPEND,
    public val clock: BatonClock? = null,
    public val onFailure: (key: Any?, failure: Throwable) -> Unit = { _, _ -> },
) {
    public val maxWait: Map<Priority, Duration> = maxWait.toMap()

    init {
        for ((priority, wait) in this.maxWait) {
            require(!wait.isNegative()) { "maxWait of $priority = $wait, must be at least 0" }
        }
        require(overdueShare >= 2) { "overdueShare = $overdueShare, must be at least 2" }
        require(capacity >= 0) { "capacity = $capacity, must be at least 0" }
    }

    override fun toString(): String =
        "TaskSchedulerConfig (policy = $policy, maxWait = $maxWait, overdueShare = $overdueShare, " +
            "capacity = $capacity, onFull = $onFull)"
}

/** The configuration of a scheduler that is given none. */
internal val DEFAULT_SCHEDULER_CONFIG: TaskSchedulerConfig = TaskSchedulerConfig()
