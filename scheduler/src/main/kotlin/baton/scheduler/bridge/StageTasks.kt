@file:JvmName("StageTasks")

package baton.scheduler.bridge

import baton.Priority
import baton.scheduler.OnFullQueue
import baton.scheduler.PriorityPolicy
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskSchedulerConfig
import baton.sync.Latch
import baton.waiting.InternalBatonApi
import java.time.Duration
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.CoroutineScope

// With StageTask the door through which Baton's Java face comes to the scheduler: exported to its module alone.

/** That of a scheduler which nobody can cancel, so that no task need hear of it. */
private object EndlessScope : CoroutineScope {
    override val coroutineContext: CoroutineContext get() = EmptyCoroutineContext
}

/** A scheduler in no scope, said in Java's words; see [TaskSchedulerConfig]. */
@InternalBatonApi
public fun newScheduler(
    maxConcurrency: Int,
    name: String?,
    policy: PriorityPolicy,
    maxWait: Map<Priority, Duration>,
    overdueShare: Int,
    capacity: Int,
    onFull: OnFullQueue,
): TaskScheduler {
    val config =
        TaskSchedulerConfig(policy, maxWait.mapValues { it.value.toKotlinDuration() }, overdueShare, capacity, onFull)
    return TaskScheduler(EndlessScope, maxConcurrency, name, config)
}

/** A task of [scheduler] that is [owner]'s; to be submitted. */
@InternalBatonApi
public fun newStageTask(scheduler: TaskScheduler, priority: Priority, owner: StageTask.Owner): StageTask =
    StageEntry(scheduler, priority, owner)

/** As [TaskScheduler.drain], but does not wait: opens what is answered when all tasks have ended. */
@InternalBatonApi
public fun beginDrain(scheduler: TaskScheduler): Latch {
    scheduler.core.drain()
    return scheduler.core.ended
}
