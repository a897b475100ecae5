package baton.scheduler.tasks

import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.dispatch.RunQueue
import kotlin.time.Duration

/*
 * How it works
 *
 * The policy's picker says which level is next. Beside it stands the rule for what is overdue:
 *
 * (1) A level is overdue while its first task has waited longer than the level's maxWait.
 * (2) If at least share - 1 starts went by since the last one out of order, and the policy owes this one to nobody, it
 *     goes to the level that is overdue for longest. It is out of order if the policy would have chosen another.
 *
 * Hence: of any `share` starts in a row at most one is out of order, so that the policy's order holds for all others.
 * And while a level is overdue, of any `share` starts that the policy owes to nobody one goes to what is overdue for
 * longest. So a task that has come to the head of its level and is overdue, with n tasks that have been overdue for
 * longer, is started within (n + 1) × share such starts.
 *
 * With Bounded the bounds stay exact: while it owes nothing, any level may have the turn (see BoundedBypass).
 *
 * Guarded by the lock of the core, but for now().
 */
internal class TaskSelector(private val config: TaskSchedulerConfig) {
    private val origin = config.timeSource.markNow()
    private val picker = config.policy.picker()
    private val isTimed = config.maxWait.values.any { it.isFinite() }
    private val maxWait =
        LongArray(RunQueue.LEVELS.size) {
            (config.maxWait[RunQueue.LEVELS[it]] ?: Duration.INFINITE).inWholeNanoseconds
        }
    private var inOrder = config.overdueShare

    /** In nanoseconds since this was made. The clock may be the user's: not to be called under the lock. */
    fun now(): Long = origin.elapsedNow().inWholeNanoseconds

    /** The level whose first task is started at [now]; [lines] of [mask] have tasks. */
    fun next(mask: Int, now: Long, lines: Array<TaskList>, counts: TaskCounts): Int {
        val overdue = if (isTimed && inOrder >= config.overdueShare - 1) overdue(mask, now, lines) else NONE
        val isOwed = overdue != NONE && !picker.isFree(mask)
        val ordinary = picker.next(mask)
        val level = if (overdue == NONE || isOwed) ordinary else overdue
        if (level != ordinary) {
            counts.outOfOrder(level)
            inOrder = 0
        } else if (inOrder < config.overdueShare) {
            inOrder++
        }
        picker.served(level, mask)
        return level
    }

    private fun overdue(mask: Int, now: Long, lines: Array<TaskList>): Int {
        var found = NONE
        var longest = 0L
        for (level in lines.indices) {
            if (mask and (1 shl level) == 0) continue
            val first = lines[level].first ?: continue
            // The clock was read before the lock: a task may be younger than that.
            val over = maxOf(0, now - first.since) - maxWait[level]
            if (over > longest) {
                longest = over
                found = level
            }
        }
        return found
    }

    /** Nothing waits any more. */
    fun forget() = picker.forget()

    private companion object {
        const val NONE = -1
    }
}
