package baton.scheduler

import baton.Boosting
import baton.Priority
import baton.PriorityController
import baton.priority
import baton.sync.Latch
import baton.waiting.Timeouts
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.InternalForInheritanceCoroutinesApi
import kotlinx.coroutines.async
import kotlinx.coroutines.currentCoroutineContext

/**
 * A task and the coroutine that it becomes.
 *
 * [outcome] is the task as its user sees it, a child of the scheduler's supervisor. There is no coroutine before it is
 * the task's turn, so one that is refused can fail with an exception of its own, and one that is cancelled has ended at
 * once. The coroutine is a child of [outcome]: it is cancelled with it, and when it has ended, with all inside it, so
 * has the task.
 */
@OptIn(InternalForInheritanceCoroutinesApi::class, ExperimentalCoroutinesApi::class)
internal class CoroutineTask<T>(
    private val scheduler: TaskScheduler,
    private val outcome: CompletableDeferred<T>,
    priority: Priority,
    override val taskKey: Any?,
    private val deadline: Duration?,
    block: suspend CoroutineScope.() -> T,
) : TaskEntry(priority),
    ScheduledTask<T>,
    Deferred<T> by outcome {
    private val core get() = scheduler.core

    /** Let go as soon as it is not needed: a task may be kept for its value. */
    @Volatile
    private var block: (suspend CoroutineScope.() -> T)? = block

    /** For whom of the coroutines it is how urgent; there is none before the task is started. */
    @Volatile
    private var controller: PriorityController? = null

    @Volatile
    private var timer: DisposableHandle? = null

    /** Opens when it stands outside no more; null for one that never does. */
    @Volatile
    private var entry: Latch? = null

    override val state: TaskState
        get() =
            when {
                isCompleted -> TaskState.DONE
                place == Place.RUNNING -> TaskState.RUNNING
                else -> TaskState.QUEUED
            }

    override var priority: Priority
        get() = own
        set(value) {
            core.prioritize(this, value)
            followLevel()
        }

    /** Brings it to the core; see [TaskCore.enqueue]. */
    fun submit(mayWait: Boolean) {
        if (mayWait) entry = Latch(1)
        taskKey?.let { scheduler.keys.add(it, this) }
        // Before anybody else sees it: so the scheduler is the first to hear of its end.
        outcome.invokeOnCompletion(::ended)
        core.enqueue(this, mayWait)
        if (deadline != null && isWaiting) setTimer(deadline)
    }

    private fun setTimer(deadline: Duration) {
        if (deadline == Duration.ZERO) return core.expire(this)
        timer = Timeouts.schedule(deadline, scheduler.scope.coroutineContext) { core.expire(this) }
        // Who takes it out of the queue looks for the timer after that.
        if (!isWaiting) timer?.dispose()
    }

    /** Waits until it is in the queue, or has ended. */
    suspend fun awaitEntry() {
        if (place == Place.OUTSIDE) entry?.await()
    }

    override fun letIn() {
        entry?.countDown()
    }

    override fun begin() {
        timer?.dispose()
        val block = block ?: return
        this.block = null
        // If it is being cancelled, this task is about to hear of it.
        if (!scheduler.supervision.isActive) return
        val controller = PriorityController(Line.LEVELS[level])
        this.controller = controller
        followLevel()
        try {
            val coroutine = scheduler.scope.async(outcome + controller, block = block)
            coroutine.invokeOnCompletion { failure ->
                if (failure != null) {
                    outcome.completeExceptionally(failure)
                } else {
                    outcome.complete(coroutine.getCompleted())
                }
            }
        } catch (e: Throwable) {
            // A dispatcher that throws: the coroutine may have failed with it already, or does not know of it.
            outcome.completeExceptionally(e)
        }
    }

    override fun refuse(end: TaskEnd) {
        outcome.completeExceptionally(scheduler.refusal("$label of priority $own", end, deadline))
    }

    private fun ended(failure: Throwable?) {
        timer?.dispose()
        block = null
        scheduler.supervision.leave()
        letIn()
        settle(failure)
        // Last, for it calls the key's own code.
        taskKey?.let { scheduler.keys.remove(it, this) }
    }

    private fun settle(failure: Throwable?) = core.ended(this, failure, isCancelled = failure is CancellationException)

    /**
     * A Job says that it has completed before it tells those who asked to be told. Whoever sees that settles it first:
     * so that it finds the place free and the end counted.
     */
    override val isCompleted: Boolean
        get() {
            if (!outcome.isCompleted) return false
            if (place != Place.ENDED) settle(outcome.getCompletionExceptionOrNull())
            return true
        }

    /**
     * The level may change meanwhile; whoever changes it does this after it, so that the last one has the last word.
     */
    private fun followLevel() {
        val controller = controller ?: return
        do {
            val now = level
            controller.level = Line.LEVELS[now]
        } while (level != now)
    }

    override suspend fun await(): T = lifted { outcome.await() }

    override suspend fun join(): Unit = lifted { outcome.join() }

    private suspend inline fun <R> lifted(wait: () -> R): R {
        if (isCompleted) return wait()
        val level = levelOf(currentCoroutineContext())
        if (!core.lift(this, level.ordinal)) return wait()
        followLevel()
        val boost = boostInside(level)
        try {
            return wait()
        } finally {
            boost?.end()
            if (!isCompleted) {
                core.sink(this, level.ordinal)
                followLevel()
            }
        }
    }

    /** For what is inside the task and has a level of its own, which does not follow the task's. */
    private fun boostInside(level: Priority): Boosting.Boost? {
        if (level >= own) return null
        val context = scheduler.scope.coroutineContext + outcome
        return (context[ContinuationInterceptor] as? Boosting)?.boost(context, level)
    }

    private fun levelOf(caller: CoroutineContext): Priority =
        (caller[ContinuationInterceptor] as? Boosting)?.levelOf(caller) ?: caller.priority ?: Priority.NORMAL

    /** As messages call it. */
    val label: String get() = if (taskKey == null) "ScheduledTask" else "ScheduledTask '${nameOf(taskKey)}'"

    override fun toString(): String = "$label (${state.name.lowercase()}, priority = $own)"
}

/** A message must come through also if the user's object cannot say what it is. */
private fun nameOf(key: Any): String =
    try {
        key.toString()
    } catch (_: Throwable) {
        key.javaClass.name
    }
