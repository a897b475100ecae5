package baton.scheduler

import baton.Priority
import baton.PriorityController
import baton.scheduler.tasks.CoroutineTask
import baton.scheduler.tasks.KeyIndex
import baton.scheduler.tasks.SharedSupervisor
import baton.scheduler.tasks.TaskCore
import baton.scheduler.tasks.TaskEnd
import baton.scheduler.tasks.TaskJob
import kotlin.time.Duration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.newCoroutineContext
import kotlinx.coroutines.withContext

/**
 * Runs tasks, the most urgent first, and only so many at a time. All others wait in a queue, from which each can be
 * taken out, and in which it can be moved, until it is its turn.
 *
 * ```
 * val scheduler = TaskScheduler(scope, maxConcurrency = 3)
 * val page = scheduler.schedule(Priority.LOW) { prefetch() }
 * page.priority = Priority.HIGH // the user opened it
 * show(page.await())
 * ```
 *
 * *Bound.* At most [maxConcurrency] tasks are started and have not ended. A suspended task keeps its place; the place
 * is free when the task has ended with all inside it, `finally` blocks and child coroutines included. For a bound on
 * what runs on threads see [PriorityDispatcher]; the two go together.
 *
 * *Order.* Levels as the [PriorityPolicy] of the [config] says, and inside a level first come, first served. By default
 * the most urgent level first, and none is passed over without end. With `maxWait` those who have waited for too long
 * have a share of the starts, see [TaskSchedulerConfig]. What is started next is decided when a place is free.
 *
 * *Where.* Each task is a coroutine in [scope], with a [baton.PriorityController] in its context, so that on a
 * [PriorityDispatcher] it runs at its level. Awaiting a [ScheduledTask] lifts it. Each task is one dispatch.
 *
 * *Failures.* A task that fails fails nobody but whoever awaits it. A task that the scheduler refuses fails with
 * [TaskRejectedException], [TaskShedException], [TaskDeadlineException] or [SchedulerClosedException]: never with a
 * `CancellationException`, by which whoever awaits it would end without a word.
 *
 * *Cancellation.* Cancelling the [scope] cancels all tasks, queued or running. The scope waits for its tasks; it does
 * not wait for a scheduler without tasks, so that nothing need be closed.
 *
 * *Memory.* What happens before a task is scheduled happens before its block; its end happens before what follows its
 * `await`, and before a [drain] that returns.
 *
 * *Misuse.* A task that waits for another task of the same scheduler keeps its place meanwhile: if all do that, none
 * goes on. A task that calls [drain] waits for itself. A pool that takes the dispatch of a task and then drops it, as it
 * does on `shutdownNow` and with a `DiscardPolicy`, keeps the task RUNNING, and its place taken, until the task is cancelled.
 *
 * All members may be called from any thread. The scheduler starts no thread and holds no timer but those of deadlines.
 * A dispatcher that runs coroutines in place, such as `Dispatchers.Unconfined`, runs them on the thread that schedules
 * or whose task has ended. The stack does not grow with them, because deep ones begin when the thread has returned to the
 * outermost: code that runs in such a chain must not block its thread until a later task has ended.
 *
 * @param maxConcurrency how many tasks may run, at least 1.
 * @property scope in whose context tasks run.
 * @property name shown by messages and [toString].
 * @property config how it orders what it starts, and how much it keeps.
 * @throws IllegalArgumentException if [maxConcurrency] is below 1.
 */
public class TaskScheduler(
    internal val scope: CoroutineScope,
    maxConcurrency: Int,
    public val name: String? = null,
    public val config: TaskSchedulerConfig = TaskSchedulerConfig(),
) {
    init {
        requireAtLeastOne(maxConcurrency)
    }

    internal val supervision = SharedSupervisor(scope.coroutineContext[Job])
    internal val core = TaskCore(maxConcurrency, config, supervision::isActive)
    internal val keys = KeyIndex()

    /**
     * How many tasks may run. Raising it starts more at once; lowering it takes nothing from those that run, and none
     * is started until enough of them have ended.
     *
     * @throws IllegalArgumentException if set to less than 1.
     */
    public var maxConcurrency: Int
        get() = core.maxConcurrency
        set(value) {
            requireAtLeastOne(value)
            core.resize(value)
        }

    /** Whether it starts nothing because of [pause]. */
    public val isPaused: Boolean get() = core.isPaused

    /** Whether it takes no tasks any more, because of [close] or [drain]. */
    public val isClosed: Boolean get() = !core.isOpen

    /** A snapshot of what it does. */
    public val metrics: TaskSchedulerMetrics get() = core.metrics()

    /**
     * Has [block] run when it is its turn. Never waits, and never throws because of the state of the scheduler: a task
     * that cannot be taken has failed when it is returned.
     *
     * @param key shown by messages and `toString`, and by which [tasks] and [cancel] find the task while it has not
     *   ended. Several tasks may have the same key; it is compared by `equals`.
     * @param deadline how long the task may wait for its turn, by the clock of the scope's dispatcher, rounded up to
     *   whole milliseconds; zero or less means now or not at all, null or infinite that there is no limit. If it has not
     *   been started then it fails with [TaskDeadlineException]. How long it runs is not limited: for that use
     *   `withTimeout` in [block].
     */
    public fun <T> schedule(
        priority: Priority = Priority.NORMAL,
        key: Any? = null,
        deadline: Duration? = null,
        block: suspend CoroutineScope.() -> T,
    ): ScheduledTask<T> = newTask(priority, key, deadline, block).also { it.submit(mayWait = false) }

    /**
     * As [schedule], and waits for room in the queue if there is none and the configuration says [OnFullQueue.SUSPEND];
     * those who wait are let in in the order in which they came, whatever their level. The deadline counts from the
     * call. The task that is returned may have failed: see [schedule].
     *
     * *Cancellation.* Prompt. The task is cancelled, and unless it was let in that very moment its block is never
     * called. A call that need not wait does not look for cancellation.
     */
    public suspend fun <T> submit(
        priority: Priority = Priority.NORMAL,
        key: Any? = null,
        deadline: Duration? = null,
        block: suspend CoroutineScope.() -> T,
    ): ScheduledTask<T> {
        val task = newTask(priority, key, deadline, block)
        task.submit(mayWait = true)
        try {
            task.awaitEntry()
        } catch (e: Throwable) {
            task.cancel(cancellation(e))
            throw e
        }
        return task
    }

    /**
     * Runs [block] as a task and returns its value, as `withContext` does: what [block] throws is thrown here, and the
     * call has not returned before the task has ended. Waits for room as [submit] does, and lifts the task as
     * [ScheduledTask.await] does. The context of [block] is that of the scheduler's scope, not the caller's.
     *
     * *Cancellation.* Cancels the task and waits for its end. A queued one leaves the queue at once.
     *
     * @throws TaskRejectedException if there is no room; [TaskShedException] if it has lost its place in the queue.
     * @throws TaskDeadlineException if it was not started before its [deadline].
     * @throws SchedulerClosedException if the scheduler is closed, before or while the task is queued.
     */
    public suspend fun <T> run(
        priority: Priority = Priority.NORMAL,
        key: Any? = null,
        deadline: Duration? = null,
        block: suspend CoroutineScope.() -> T,
    ): T {
        val task = newTask(priority, key, deadline, block)
        task.submit(mayWait = true)
        try {
            task.awaitEntry()
            return task.await()
        } catch (e: Throwable) {
            if (!task.isCompleted) {
                task.cancel(cancellation(e))
                withContext(NonCancellable) { task.join() }
            }
            throw e
        }
    }

    /** The tasks with this [key] that have not ended, in the order in which they were scheduled. */
    public fun tasks(key: Any): List<ScheduledTask<*>> = keys.of(key).filterNot { it.isCompleted }

    /** Cancels the tasks with this [key] that have not ended, queued or running; how many there were. */
    public fun cancel(key: Any, cause: CancellationException? = null): Int {
        val tasks = tasks(key)
        for (task in tasks) task.cancel(cause)
        return tasks.size
    }

    /** Starts nothing until [resume]. Those that run go on; deadlines go on, too. To pause twice changes nothing. */
    public fun pause() {
        core.pause()
    }

    /** Starts at once as many as [maxConcurrency] allows. */
    public fun resume() {
        core.resume()
    }

    /**
     * Ends the intake and waits until all tasks have ended: those that run, are queued, or whose submitters wait for
     * room. A task that is scheduled from now on fails with [SchedulerClosedException]. While the scheduler is paused,
     * this waits until it is resumed. Any number of callers may wait.
     *
     * *Cancellation.* Throws; the intake has ended all the same.
     */
    public suspend fun drain() {
        core.drain()
        core.ended.await()
    }

    /**
     * Ends the intake for good: what is queued or waits for room, and all that is scheduled from now on, fails with a
     * [SchedulerClosedException] with this [cause]. Those that run go on; [drain] waits for them. Takes O(those
     * queued). A second close changes nothing; after [drain] it still takes the queued ones.
     */
    public fun close(cause: Throwable? = null) {
        core.close(cause)
    }

    @OptIn(ExperimentalCoroutinesApi::class)
    private fun <T> newTask(
        priority: Priority,
        key: Any?,
        deadline: Duration?,
        block: suspend CoroutineScope.() -> T,
    ): CoroutineTask<T> {
        val controller = PriorityController(priority)
        return CoroutineTask(this, controller, TaskJob(scope.newCoroutineContext(controller)), key, deadline, block)
    }

    /** Why a task has ended without having been started. */
    internal fun refusal(about: String, end: TaskEnd, deadline: Duration?): Exception =
        when (end) {
            TaskEnd.REJECTED -> TaskRejectedException("no room for $about, capacity = ${config.capacity}: $this")
            TaskEnd.SHED ->
                TaskShedException("$about made room for a more urgent one, capacity = ${config.capacity}: $this")
            TaskEnd.EXPIRED -> TaskDeadlineException("$about was not started within $deadline: $this")
            else -> SchedulerClosedException("$about was not started: $this", core.closure)
        }

    private fun cancellation(e: Throwable) =
        e as? CancellationException ?: CancellationException("the caller failed", e)

    override fun toString(): String {
        val label = if (name == null) "TaskScheduler" else "TaskScheduler '$name'"
        val metrics = metrics
        val state =
            when {
                core.isClosed -> ", closed"
                !core.isOpen -> ", drained"
                core.isPaused -> ", paused"
                else -> ""
            }
        return "$label (maxConcurrency = ${metrics.maxConcurrency}, running = ${metrics.running}, " +
            "queued = ${metrics.queued}, waiting = ${metrics.waiting}$state)"
    }

    private fun requireAtLeastOne(maxConcurrency: Int) {
        require(maxConcurrency >= 1) { "maxConcurrency must be at least 1, was $maxConcurrency" }
    }
}
