package baton.scheduler

import baton.Priority
import baton.waiting.InternalBatonApi
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.InternalForInheritanceCoroutinesApi

/**
 * A task of a [TaskScheduler]: a `Deferred` that says how far it has come and how urgent it is. It is active from the
 * beginning, also while it is queued; there is nothing to `start`.
 *
 * *Awaiting lifts.* While somebody more urgent waits in [await] or [join], the task counts as that urgent: a queued one
 * goes at once to the end of the caller's level, and keeps that place also if the caller leaves; one that runs, and all
 * inside it, is at the caller's level as long as the caller waits. The caller's level is the one at which its
 * `PriorityDispatcher` dispatches it, else the [Priority] in its context, else NORMAL. `awaitAll` and the clauses of
 * `select` wait without lifting, and a caller that becomes more urgent while it waits does not lift the task further.
 *
 * *Cancellation.* `cancel` takes a queued task out of the queue at once, wherever it stands, in O(1), and its block is
 * never called. The same holds for a task that has its place and waits for its thread. One that runs is cancelled as any
 * coroutine; its place is free when it has ended, with all inside it.
 *
 * *Memory.* What happens before a task is scheduled happens before its block; its end happens before what follows an
 * [await] or [join] that returns.
 */
@OptIn(InternalForInheritanceCoroutinesApi::class)
@SubclassOptInRequired(InternalBatonApi::class)
public interface ScheduledTask<out T> : Deferred<T> {
    /** How far it has come. */
    public val state: TaskState

    /**
     * How urgent it is, without those who await it. To change it moves a queued task in O(1) to the end of its new
     * level; one that runs is at the new level from its next dispatch on, and with it all inside it that has no level
     * of its own. What of it is queued in a [PriorityDispatcher] moves at once; that looks through the queues, once,
     * and once more for every block that moves.
     */
    public var priority: Priority

    /** The `key` with which it was scheduled. (As a `Job` it has a `key` in the coroutine context already.) */
    public val taskKey: Any?
}
