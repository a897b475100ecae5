package baton.scheduler.tasks

import baton.Boosting
import baton.Priority
import baton.PriorityController
import baton.priority
import baton.scheduler.ScheduledTask
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskState
import baton.scheduler.dispatch.RunQueue
import baton.sync.Latch
import baton.waiting.coroutine.Timeouts
import baton.waiting.coroutine.Trampoline
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.InternalForInheritanceCoroutinesApi
import kotlinx.coroutines.currentCoroutineContext

/**
 * A task and its coroutine, [job], a child of the scheduler's supervisor.
 *
 * Whoever takes the task out of the line, or finds it standing nowhere, brings the job to its end: by running the block
 * (see [TaskStart]) or without.
 */
@OptIn(InternalForInheritanceCoroutinesApi::class, ExperimentalCoroutinesApi::class)
internal class CoroutineTask<T>(
    private val scheduler: TaskScheduler,
    /** For whom of the coroutines inside it is how urgent. */
    private val controller: PriorityController,
    private val job: TaskJob<T>,
    override val taskKey: Any?,
    private val deadline: Duration?,
    block: suspend CoroutineScope.() -> T,
) : TaskEntry(controller.level),
    ScheduledTask<T>,
    TaskJob.Owner,
    Deferred<T> by job {
    private val core get() = scheduler.core

    /** Let go as soon as it is not needed: a task may be kept for its value. */
    @Volatile
    private var block: (suspend CoroutineScope.() -> T)? = block

    /** On its way to its thread. */
    @Volatile
    private var starting: TaskStart? = null

    /** Which it leaves when it has ended; written before anybody sees it. */
    private var group: SharedSupervisor.Group? = null

    /** Where [KeyIndex] has it. Written before other threads can find this. */
    var keyEntry: KeyIndex.Entry? = null

    @Volatile
    private var timer: DisposableHandle? = null

    /** Opens when it stands outside no more; null for one that never does. */
    @Volatile
    private var entry: Latch? = null

    val context: CoroutineContext get() = job.context

    init {
        job.owner = this
    }

    override val state: TaskState
        get() =
            when {
                isCompleted -> TaskState.DONE
                isBeforeItsTurn -> TaskState.QUEUED
                else -> TaskState.RUNNING
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
        val group = scheduler.supervision.enter()
        this.group = group
        try {
            // From here on others may find it, and cancel it.
            taskKey?.let { scheduler.keys.add(it, this) }
        } catch (e: Throwable) {
            group.leave()
            throw e
        }
        job.attachTo(group.job)
        core.enqueue(this, mayWait)
        if (deadline != null && isBeforeItsTurn) setTimer(deadline)
    }

    private fun setTimer(deadline: Duration) {
        if (!deadline.isPositive()) return core.expire(this)
        timer = Timeouts.schedule(deadline, scheduler.scope.coroutineContext) { core.expire(this) }
        // Who takes it out of the queue looks for the timer after that.
        if (!isBeforeItsTurn) timer?.dispose()
    }

    /** Waits until it is in the queue, or has ended. */
    suspend fun awaitEntry() {
        if (place == Place.AWAITING_CAPACITY) entry?.await()
    }

    override fun letIn() {
        entry?.countDown()
    }

    override fun begin() {
        timer?.dispose()
        try {
            followLevel()
            val interceptor = context[ContinuationInterceptor]
            if (interceptor is CoroutineDispatcher && !interceptor.isDispatchNeeded(context)) {
                // kotlinx runs it here, and keeps the stack flat.
                start { job.dispatch(it) }
            } else {
                val start = TaskStart(this)
                starting = start
                start.sendTo(interceptor)
                // The thread that cancels looks at `starting` after that.
                if (job.isCancelled) endUnstarted(job.getCancellationException())
            }
        } catch (e: Throwable) {
            failToStart(e)
        }
    }

    /** What begins next may fail as well, and stands on this: deep failures become known elsewhere. */
    fun failToStart(e: Throwable) {
        if (Trampoline.enter()) {
            try {
                fail(e)
            } finally {
                Trampoline.leave()
            }
        } else {
            Dispatchers.Default.dispatch(EmptyCoroutineContext) { fail(e) }
        }
    }

    private fun fail(e: Throwable) {
        // The coroutine may have failed with it already.
        if (!job.isCompleted) job.end(e)
    }

    /** On the thread that the dispatcher gave, or, if it has refused and has cancelled the job, on another. */
    fun runHere() {
        starting = null
        start { job.runHere(it) }
    }

    /** If it waits for its thread, which may never come: a pool may drop what it has taken. */
    private fun endUnstarted(cause: Throwable) {
        if (starting?.compareAndSet(false, true) == true) job.end(cause)
    }

    private inline fun start(how: (suspend CoroutineScope.() -> T) -> Unit) {
        val block = block ?: return
        this.block = null
        followLevel()
        how(block)
    }

    override fun refuse(end: TaskEnd) {
        job.end(scheduler.refusal("$label of priority $own", end, deadline))
    }

    override fun cancelling(cause: Throwable) {
        if (core.withdraw(this)) job.end(cause) else endUnstarted(cause)
    }

    override fun ended() = settle()

    private fun settle() {
        val failure = job.getCompletionExceptionOrNull()
        core.ended(this, failure, isCancelled = failure is CancellationException)
    }

    /**
     * Others may see that a Job has ended before its owner is told. Whoever sees that settles it first: so that it finds
     * the place free and the end counted.
     */
    override val isCompleted: Boolean
        get() {
            if (!job.isCompleted) return false
            if (place != Place.ENDED) settle()
            return true
        }

    override fun gone() {
        timer?.dispose()
        block = null
        // Most have been settled: not once more under the core's lock.
        if (place != Place.ENDED || isAccepted) settle()
        letIn()
        group?.leave()
        keyEntry?.let { scheduler.keys.remove(it, this) }
    }

    /**
     * The level may change meanwhile; whoever changes it does this after it, so that the last one has the last word.
     */
    private fun followLevel() {
        do {
            val now = level
            controller.level = RunQueue.LEVELS[now]
        } while (level != now)
    }

    override suspend fun await(): T = lifted { job.await() }

    override suspend fun join(): Unit = lifted { job.join() }

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
