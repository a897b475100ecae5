package baton.scheduler

import baton.Priority
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.InternalForInheritanceCoroutinesApi

/**
 * A task of a [TaskScheduler]: a `Deferred` with a [state] and a [priority]. It is active from the beginning, also
 * while it is queued; it needs no `start`.
 *
 * ```
 * val page = scheduler.schedule(Priority.LOW) { prefetch() }
 * page.priority = Priority.HIGH // the user opened it
 * show(page.await())
 * ```
 *
 * *Awaiting boosts.* While a more urgent caller waits in [await] or [join], the task has the caller's level. A queued
 * task moves at once to the tail of that level, and keeps this position even if the caller is cancelled. A running
 * task, and all coroutines inside it, have the caller's level as long as the caller waits. The caller's level is the
 * one at which its `PriorityDispatcher` dispatches it, else the [Priority] in its context, else NORMAL. `awaitAll` and
 * the clauses of `select` wait without boosting, and a caller that becomes more urgent while it waits does not boost
 * the task further.
 *
 * *Cancellation.* `cancel` removes a queued task at once, at any position, in O(1), and its block is never called. The
 * same holds for a task that has its slot and whose dispatch has not run. A running task is cancelled as any coroutine;
 * its slot is free when the task and all coroutines inside it have ended.
 *
 * *Memory.* Actions before a task is scheduled happen-before its block. The end of the task happens-before actions
 * after an [await] or [join] that returns.
 */
@OptIn(InternalForInheritanceCoroutinesApi::class)
public interface ScheduledTask<out T> : Deferred<T> {
    /** Whether it is queued, running or done. */
    public val state: TaskState

    /**
     * Its own priority, without the boosts by its awaiters. Setting it moves a queued task in O(1) to the tail of its
     * new level. A running task, and all coroutines inside it that have no level of their own, are at the new level
     * from their next dispatch on. Their blocks that are queued in a [PriorityDispatcher] move at once; the setting
     * thread searches the dispatcher's queues once, and once more for every block that moves.
     */
    public var priority: Priority

    /**
     * The `key` with which it was scheduled, else the name of its coroutine: see [TaskScheduler.schedule]. (As a `Job`
     * it already has a `key`, the one of the coroutine context.)
     */
    public val taskKey: Any?
}
