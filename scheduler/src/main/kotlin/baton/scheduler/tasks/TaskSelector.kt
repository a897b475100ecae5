package baton.scheduler.tasks

import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.dispatch.RunQueue
import baton.waiting.LinkedEntries
import kotlin.time.Duration

/*
 * How it works
 *
 * The policy's selector chooses the level that is next. A second rule serves overdue levels:
 *
 * (1) A level is overdue while its head has waited longer than the level's maxWait.
 * (2) If at least share - 1 starts have followed the last one out of order, and the policy does not owe this start to a
 *     level, it goes to the level that has been overdue for longest. It is out of order if the policy would have chosen
 *     another level.
 *
 * Hence: of any `share` starts in a row at most one is out of order, and the policy's order holds for all others. While
 * a level is overdue, of any `share` starts that the policy owes to no level one goes to the level that has been
 * overdue for longest. So an overdue task at the head of its level, with n tasks that have been overdue for longer, is
 * started within (n + 1) × share such starts.
 *
 * With Bounded the bounds stay exact: while the policy owes nothing, any level may be next (see BoundedBypass).
 *
 * Guarded by the lock of the core.
 */
internal class TaskSelector(private val config: TaskSchedulerConfig) {
    private val selector = config.policy.newSelector()
    private val isTimed = config.maxWait.values.any { it.isFinite() }
    private val maxWait =
        LongArray(RunQueue.LEVELS.size) {
            (config.maxWait[RunQueue.LEVELS[it]] ?: Duration.INFINITE).inWholeNanoseconds
        }
    private var startsInOrder = config.overdueShare

    /** Returns the level whose head is started at [now]; the [queues] of [mask] have tasks. */
    fun select(mask: Int, now: Long, queues: Array<LinkedEntries<TaskEntry>?>, counts: TaskCounts): Int {
        val mayDeviate = isTimed && startsInOrder >= config.overdueShare - 1
        val overdue = if (mayDeviate) mostOverdue(mask, now, queues) else NO_LEVEL
        val isOwedByPolicy = overdue != NO_LEVEL && !selector.mayDeviate(mask)
        val ordinary = selector.select(mask)
        val level = if (overdue == NO_LEVEL || isOwedByPolicy) ordinary else overdue
        if (level != ordinary) {
            counts.outOfOrder(level)
            startsInOrder = 0
        } else if (startsInOrder < config.overdueShare) {
            startsInOrder++
        }
        selector.recordSelected(level, mask)
        return level
    }

    private fun mostOverdue(mask: Int, now: Long, queues: Array<LinkedEntries<TaskEntry>?>): Int {
        var found = NO_LEVEL
        var longest = 0L
        for (level in queues.indices) {
            if (mask and (1 shl level) == 0) continue
            val first = queues[level]?.first ?: continue
            // The caller read the clock before it took the lock: a task may have been enqueued after that.
            val over = maxOf(0, now - first.since) - maxWait[level]
            if (over > longest) {
                longest = over
                found = level
            }
        }
        return found
    }

    /** All queues are empty. */
    fun reset() = selector.reset()

    private companion object {
        const val NO_LEVEL = -1
    }
}
