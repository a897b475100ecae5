@file:JvmName("StageTasks")

package baton.scheduler.bridge

import baton.BatonClock
import baton.InternalBatonApi
import baton.Priority
import baton.scheduler.DEFAULT_SCHEDULER_CONFIG
import baton.scheduler.OnFullQueue
import baton.scheduler.PriorityPolicy
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskSchedulerConfig
import baton.sync.Latch
import baton.waiting.clock.LabelledOwner
import java.time.Duration
import java.util.function.BiConsumer
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.CoroutineScope

// With StageTask, the interface of the scheduler for Baton's Java API; exported only to that module.

/** The scope of a scheduler that cannot be cancelled, so that its tasks need no job. */
private object EndlessScope : CoroutineScope {
    override val coroutineContext: CoroutineContext
        get() = EmptyCoroutineContext
}

/** Returns a scheduler without a scope; the parameters are those of [TaskSchedulerConfig] in Java types. */
@InternalBatonApi
public fun newScheduler(
    maxConcurrency: Int,
    name: String?,
    policy: PriorityPolicy,
    maxWait: Map<Priority, Duration>,
    overdueShare: Int,
    capacity: Int,
    onFull: OnFullQueue,
    clock: BatonClock?,
    onFailure: BiConsumer<in Any?, in Throwable>?,
): TaskScheduler {
    val config =
        TaskSchedulerConfig(
            policy,
            maxWait.mapValues { it.value.toKotlinDuration() },
            overdueShare,
            capacity,
            onFull,
            clock,
            onFailure?.let { it::accept } ?: DEFAULT_SCHEDULER_CONFIG.onFailure,
        )
    return TaskScheduler(EndlessScope, maxConcurrency, name, config)
}

/** Returns a task of [scheduler] for [owner], which the caller must submit. */
@InternalBatonApi
public fun newStageTask(scheduler: TaskScheduler, priority: Priority, key: Any?, owner: StageTask.Owner): StageTask =
    StageEntry(scheduler, priority, key, owner)

/** Called by a thread that waits for a limited time, and for no other clock. */
@InternalBatonApi
public fun requireReal(scheduler: TaskScheduler): Unit =
    scheduler.core.clock.requireReal(LabelledOwner(scheduler.label))

/** The scheduler in messages: `TaskScheduler 'uplink'`. */
@InternalBatonApi public fun labelOf(scheduler: TaskScheduler): String = scheduler.label

/** As [TaskScheduler.drain], but does not wait. The returned latch opens when all tasks have ended. */
@InternalBatonApi
public fun beginDrain(scheduler: TaskScheduler): Latch {
    scheduler.core.drain()
    return scheduler.core.allEnded
}

/** As [TaskScheduler.awaitIdle], but does not wait: a latch that opens then; null if there are no tasks now. */
@InternalBatonApi public fun idle(scheduler: TaskScheduler): Latch? = scheduler.core.idle()
