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
import baton.waiting.threads.Trampoline
import baton.waiting.threads.runOnDefault
import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.InternalForInheritanceCoroutinesApi
import kotlinx.coroutines.currentCoroutineContext

/**
 * A task and its coroutine, [job], whose parent is the [group].
 *
 * The thread that takes the task out of its queue, or that prevents it from being queued, completes the job: by running
 * the block (see [TaskStart]) or without it.
 *
 * kotlinx.coroutines does not guarantee that `Deferred` can be implemented outside of it. This one exists because
 * awaiting a task boosts it. Tested against kotlinx-coroutines 1.8.1, 1.10.2 and 1.11.0.
 */
@OptIn(InternalForInheritanceCoroutinesApi::class, ExperimentalCoroutinesApi::class)
internal class CoroutineTask<T>(
    private val scheduler: TaskScheduler,
    /** Publishes [level] to the coroutines that the task launches. */
    private val controller: PriorityController,
    private val job: TaskJob<T>,
    override val taskKey: Any?,
    private val deadline: Duration?,
    private val limit: TaskTimeLimit?,
    block: suspend CoroutineScope.() -> T,
) : TaskEntry(controller.level), ScheduledTask<T>, TaskJob.Owner, Deferred<T> by job {
    private val core
        get() = scheduler.core

    /** Set to null once it is not needed any more, so that a task that is kept for its value does not retain it. */
    private var block: (suspend CoroutineScope.() -> T)? = limit?.around(::startRunTimer, block) ?: block

    /** Whether a start was dispatched and has neither begun nor failed. */
    @Volatile private var isStartPending = false

    override val shownKey: Any?
        get() = taskKey

    @Volatile private var timer: DisposableHandle? = null

    /** Whether the listener of the scheduler has got the failure of the task. */
    @Volatile private var isReported = false

    /** Opens when the task is no longer AWAITING_CAPACITY; null if it never is. */
    @Volatile private var admission: Latch? = null

    val context: CoroutineContext
        get() = job.context

    init {
        job.owner = this
    }

    override val state: TaskState
        get() =
            when {
                isCompleted -> TaskState.DONE
                isNotStarted -> TaskState.QUEUED
                else -> TaskState.RUNNING
            }

    override var priority: Priority
        get() = basePriority
        set(value) {
            core.prioritize(this, value)
            publishLevel()
        }

    fun submit(mayWait: Boolean) {
        if (mayWait) admission = Latch(1)
        val isNowOrNever = deadline != null && !deadline.isPositive()
        limit?.timeout?.let { limit.timer = timerOf(it, isOfRun = false) }
        try {
            scheduler.add(this, mayWait, isNowOrNever)
        } catch (e: Throwable) {
            limit?.timer?.dispose()
            throw e
        }
        // The timer does not find a task that is not queued yet.
        if (limit?.hasPassed == true) core.expire(this)
        if (deadline != null && !isNowOrNever && isNotStarted) setTimer(deadline)
    }

    private fun startRunTimer(): DisposableHandle? = limit?.runTimeout?.let { timerOf(it, isOfRun = true) }

    /** The timer of one of the two limits. Throws if there is no timer, or its clock does. */
    private fun timerOf(time: Duration, isOfRun: Boolean): DisposableHandle? =
        core.clock.schedule(time, scheduler.scope.coroutineContext) {
            val failure = scheduler.timeoutOf(this, time, isOfRun)
            limit?.pass(failure)
            core.expire(this)
            endUnstarted(failure)
        }

    /** Throws if there is no timer, or its clock does, and then withdraws the task: the caller does not get it. */
    private fun setTimer(deadline: Duration) {
        try {
            timer = core.clock.schedule(deadline, scheduler.scope.coroutineContext) { core.expire(this) }
        } catch (e: Throwable) {
            if (!core.withdraw(this)) return // It has been started, or has ended: no timer is needed.
            job.end(e)
            throw e
        }
        // A thread that takes the task out of the queue reads `timer` afterwards: one of the two disposes it.
        if (!core.isNotStarted(this)) timer?.dispose()
    }

    /** Suspends until the task is in the queue or has ended. */
    suspend fun awaitAdmission() {
        if (phase == Phase.AWAITING_CAPACITY) admission?.await()
    }

    override fun admit() {
        admission?.countDown()
    }

    override fun begin() {
        timer?.dispose()
        try {
            publishLevel()
            val interceptor = context[ContinuationInterceptor]
            if (interceptor is CoroutineDispatcher && !interceptor.isDispatchNeeded(context)) {
                // kotlinx runs it on this thread; its event loop bounds the depth of the stack.
                start { job.dispatch(it) }
            } else {
                val start = TaskStart(this)
                isStartPending = true
                start.dispatchTo(interceptor)
                // A thread that cancels the job takes the start afterwards, and so does the timer of the limit: one of
                // the two ends the task.
                if (job.isCancelled) endUnstarted(job.getCancellationException())
                limit?.failure?.let(::endUnstarted)
            }
        } catch (e: Throwable) {
            failToStart(e)
        }
    }

    /**
     * The end of this task starts the next one on the same stack, and that may fail, too. So beyond the trampoline's
     * depth the failure is recorded on another thread.
     */
    fun failToStart(e: Throwable) {
        if (Trampoline.enter()) {
            try {
                fail(e)
            } finally {
                Trampoline.leave()
            }
        } else {
            runOnDefault { fail(e) }
        }
    }

    private fun fail(e: Throwable) {
        // The coroutine may have failed with the same exception already.
        if (!job.isCompleted) job.end(e)
    }

    /**
     * Runs on a thread of the task's dispatcher, or, if that has refused the start and has cancelled the job, on
     * another one.
     */
    fun runHere() = start { job.runHere(it) }

    /**
     * True for the first caller: the start has begun, has failed because the dispatcher threw, or the task was
     * cancelled.
     */
    fun takeStart(): Boolean = isStartPending && START.compareAndSet(this, true, false)

    /** Ends a task whose start was dispatched and has not run. It may never run: a pool may drop accepted work. */
    private fun endUnstarted(cause: Throwable) {
        if (takeStart()) job.end(cause)
    }

    private inline fun start(how: (suspend CoroutineScope.() -> T) -> Unit) {
        val block = block ?: return
        this.block = null
        publishLevel()
        how(block)
    }

    override fun refuse(end: TaskEnd) {
        val late = if (end == TaskEnd.EXPIRED) limit?.failure else null
        job.end(late ?: scheduler.refusal(this, end, deadline))
    }

    override fun onCancelling(cause: Throwable) {
        if (core.withdraw(this)) job.end(cause) else endUnstarted(cause)
    }

    override fun onValue() = reportEnd()

    private fun reportEnd() {
        val failure = job.getCompletionExceptionOrNull()
        core.recordEnd(this, failure, isCancelled = failure is CancellationException)
    }

    /**
     * Another thread may see the Job complete before the job has notified this task. That thread reports the end first,
     * so that it finds the slot free and the end counted.
     */
    override val isCompleted: Boolean
        get() {
            if (!job.isCompleted) return false
            if (phase != Phase.ENDED) reportEnd()
            return true
        }

    override fun onCompleted() {
        timer?.dispose()
        limit?.timer?.dispose()
        block = null
        // For most tasks the end is reported already; for them this avoids the core's lock.
        if (phase != Phase.ENDED || isCounted) reportEnd()
        admit()
        job.getCompletionExceptionOrNull()?.let(::reportFailure)
        leaveGroup()
        keyEntry?.let { scheduler.keys.remove(it, this) }
    }

    private fun reportFailure(failure: Throwable) {
        if (!isFailure(failure)) return
        report(scheduler.config.onFailure, taskKey, failure)
        isReported = true
        core.completed(this)
    }

    override val isOver: Boolean
        get() = isReported || !isFailure(job.getCompletionExceptionOrNull())

    /**
     * Copies [level] to [controller]. Another thread may change the level meanwhile; it calls this after the change, so
     * that the last change is the one that remains.
     */
    private fun publishLevel() {
        do {
            val now = level
            controller.level = RunQueue.LEVELS[now]
        } while (level != now)
    }

    override val hasEnded: Boolean
        get() = isCompleted

    override fun cancelFromOutside(cause: CancellationException?) = cancel(cause)

    // These two do not suspend and resume by themselves, so they have no state: a call of an ended task allocates
    // nothing.

    override suspend fun await(): T = if (isCompleted) job.await() else boosted { job.await() }

    override suspend fun join(): Unit = if (isCompleted) job.join() else boosted { job.join() }

    private suspend fun <R> boosted(wait: suspend () -> R): R {
        val level = levelOf(currentCoroutineContext())
        if (!core.boost(this, level.ordinal)) return wait()
        publishLevel()
        val boost = boostInside(level)
        try {
            return wait()
        } finally {
            boost?.end()
            if (!isCompleted) {
                core.unboost(this, level.ordinal)
                publishLevel()
            }
        }
    }

    /** Boosts the coroutines inside the task that have a level of their own and so do not follow [controller]. */
    private fun boostInside(level: Priority): Boosting.Boost? {
        if (level >= basePriority) return null
        return (context[ContinuationInterceptor] as? Boosting)?.boost(context, level)
    }

    private fun levelOf(caller: CoroutineContext): Priority =
        (caller[ContinuationInterceptor] as? Boosting)?.levelOf(caller) ?: caller.priority ?: Priority.NORMAL

    /** The task in messages. */
    val label: String
        get() = labelOf(taskKey)

    override val cancellationMessage: String
        get() = "$label of ${scheduler.label} was cancelled"

    override fun toString(): String = "$label (${state.name.lowercase()}, priority = $basePriority)"

    private companion object {
        private val START: VarHandle =
            MethodHandles.lookup().findVarHandle(CoroutineTask::class.java, "isStartPending", Boolean::class.java)
    }
}

/** A task with that key in messages. */
internal fun labelOf(key: Any?): String = if (key == null) "ScheduledTask" else "ScheduledTask '${nameOf(key)}'"

/** A message must be built even if the `toString` of the user's object throws. */
internal fun nameOf(key: Any): String =
    try {
        key.toString()
    } catch (_: Throwable) {
        key.javaClass.name
    }
