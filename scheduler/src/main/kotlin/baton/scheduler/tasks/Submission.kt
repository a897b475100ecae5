package baton.scheduler.tasks

import baton.scheduler.TaskScheduler

/**
 * Adds [task] to its scope, to the tasks of its key, and to the core; see [TaskCore.enqueue] for [mayWait] and
 * [isNowOrNever].
 *
 * @throws Throwable if the clock of the scheduler does, or `hashCode` or `equals` of the key; then the task was not
 *   added.
 */
internal fun TaskScheduler.add(task: TaskEntry, mayWait: Boolean, isNowOrNever: Boolean) {
    // The clock may throw.
    val now = core.clock.read()
    val group = taskScope.enter()
    if (group != null) task.enterGroup(group)
    try {
        // From here on other threads may find the task by its key and cancel it.
        task.shownKey?.let { keys.add(it, task) }
    } catch (e: Throwable) {
        task.leaveGroup()
        throw e
    }
    // If the scope is cancelled, the core neither queues the task nor makes room for it.
    group?.cancellation?.let(task::cancelAndReport)
    core.enqueue(task, mayWait, isNowOrNever, now)
    // Invariant 7 of TaskCore.
    group?.cancellation?.let(task::cancelAndReport)
}
