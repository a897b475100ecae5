package baton.scheduler

import baton.Priority
import baton.PriorityController
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.monitoring.core.listIfNamed
import baton.scheduler.tasks.CoroutineTask
import baton.scheduler.tasks.KeyIndex
import baton.scheduler.tasks.SchedulerScope
import baton.scheduler.tasks.TASK_NEED
import baton.scheduler.tasks.TaskCore
import baton.scheduler.tasks.TaskJob
import baton.scheduler.tasks.TaskTimeLimit
import baton.scheduler.tasks.cancelAll
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.newCoroutineContext
import kotlinx.coroutines.withContext

/**
 * Runs tasks, the most urgent first, and a bounded number at a time. The other tasks wait in a queue, where each can be
 * cancelled and its priority changed.
 *
 * ```
 * val scheduler = TaskScheduler(scope, maxConcurrency = 3)
 * val page = scheduler.schedule(Priority.LOW) { prefetch() }
 * page.priority = Priority.HIGH // the user opened it
 * show(page.await())
 * ```
 *
 * *Bound.* At most [maxConcurrency] tasks have been started and have not ended; each occupies a slot. A suspended task
 * keeps its slot. The slot is free when the task and all coroutines inside it have ended, `finally` blocks included.
 * For a bound on running threads see [PriorityDispatcher]; the two can be combined.
 *
 * *Order.* Among levels as the [PriorityPolicy] of the [config] defines, and inside a level first come, first served.
 * By default the most urgent level is first, and each level is passed over a bounded number of times. With `maxWait`,
 * tasks that have waited for too long get a share of the starts, see [TaskSchedulerConfig]. The scheduler selects the
 * next task when a slot is free.
 *
 * *Where.* Each task is a coroutine in [scope], with a [baton.PriorityController] in its context, so that on a
 * [PriorityDispatcher] it runs at its level. Awaiting a [ScheduledTask] boosts it. Starting a task takes one dispatch.
 *
 * *Context.* The elements of the [scope]'s context, replaced by those of the caller ([run] only) and then by those of
 * the `context` argument. A dispatcher in that argument runs the task. The job and the level are always the task's own:
 * a level in the argument has no effect, and a `Job` is refused.
 *
 * *Failures.* The failure of a task reaches the callers that await it, and [TaskSchedulerConfig.onFailure], which does
 * nothing by default. A task that the scheduler refuses fails with [TaskRejectedException], [TaskShedException],
 * [TaskDeadlineException] or [SchedulerClosedException], and one that takes too long with [TaskTimeoutException]: never
 * with a `CancellationException`, which would silently cancel the awaiting coroutine.
 *
 * *Cancellation.* Cancelling the [scope] cancels all tasks, queued or running; so does `cancelChildren`, after which
 * new tasks run. The scope waits for its tasks; it does not wait for a scheduler without tasks, so a scheduler need not
 * be closed. Among the `children` of the scope's job, one job stands for all tasks; after a `cancelChildren`, another
 * one for the new tasks. It is their `parent`, and has no `children` itself; [tasks] and [usage] show them.
 *
 * *Memory.* Actions before a task is scheduled happen-before its block. The end of the task happens-before actions
 * after an `await` of it, and before a [drain] returns.
 *
 * *Misuse.* A task that waits for another task of the same scheduler keeps its slot meanwhile: if all running tasks do
 * that, none continues. A task that calls [drain] waits for itself. If a pool accepts the dispatch of a task and then
 * drops it, as it does on `shutdownNow` and with a `DiscardPolicy`, the task stays RUNNING and keeps its slot until it
 * is cancelled, or its timeout passes.
 *
 * All members may be called from any thread. The scheduler starts no thread, and holds no timers except those of
 * deadlines and timeouts. A dispatcher that runs coroutines in place, such as `Dispatchers.Unconfined`, runs a task on
 * the thread that schedules it or that ends the task before it. The stack stays bounded, because a deep task begins
 * only when that thread has returned to the outermost one: code in such a chain must not block its thread until a later
 * task has ended.
 *
 * @param maxConcurrency the maximum number of running tasks, at least 1.
 * @property scope tasks run in its context.
 * @property name shown by messages and [toString].
 * @property config the order of starts and the capacity of the queue.
 * @throws IllegalArgumentException if [maxConcurrency] is below 1.
 */
public class TaskScheduler(
    internal val scope: CoroutineScope,
    maxConcurrency: Int,
    public override val name: String? = null,
    public val config: TaskSchedulerConfig = DEFAULT_SCHEDULER_CONFIG,
) : Monitored {
    init {
        requireAtLeastOne(maxConcurrency)
    }

    internal val taskScope = SchedulerScope(scope) { group -> core.cancelTasksOf(group) }
    internal val core: TaskCore = TaskCore(maxConcurrency, config, scope.coroutineContext) { taskScope.isActive }
    internal val keys = KeyIndex()

    init {
        listIfNamed(core = null)
    }

    /**
     * The maximum number of running tasks. Raising it starts more tasks at once. Lowering it does not affect running
     * tasks; no task is started until enough of them have ended.
     *
     * @throws IllegalArgumentException if set to less than 1.
     */
    public var maxConcurrency: Int
        get() = core.maxConcurrency
        set(value) {
            requireAtLeastOne(value)
            core.resize(value)
        }

    /** Whether it starts no tasks because of [pause]. */
    public val isPaused: Boolean
        get() = core.isPaused

    /** Whether it refuses new tasks because of [close] or [drain]. */
    public val isClosed: Boolean
        get() = !core.isOpen

    /** A snapshot of its counters. */
    public val metrics: TaskSchedulerMetrics
        get() = core.metrics()

    /**
     * The slots that are occupied, and the tasks that are queued or wait for capacity, by their keys. Waits are
     * measured by the clock of the [config]. The longest of them is that of the first ten tasks of each level, so one
     * that came to its level from another may wait longer. Its `longestRun` is that of the oldest running task. Its
     * totals are `started`, `failed` and `refused`, see [TaskSchedulerMetrics].
     */
    override fun usage(): Usage = core.usage()

    /**
     * Queues [block] as a task, or starts it if a slot is free. Never waits, and never throws because of the state of
     * the scheduler: a task that the scheduler refuses has failed when it is returned.
     *
     * @param key shown by messages and `toString`; [tasks] and [cancel] find the task by it until the task has ended.
     *   Several tasks may have the same key; keys are compared by `equals`. Without a key it is the name, a String,
     *   that the `CoroutineName` in the task's context gives. The name of the scheduler's scope does not count, because
     *   all tasks have it.
     * @param deadline how long the task may wait to be started, by the clock of the [config], rounded up to whole
     *   milliseconds; zero or less means now or not at all, null or infinite means no limit. A task that has not been
     *   started then fails with [TaskDeadlineException]; now or not at all, it displaces no other task. The deadline
     *   does not limit how long the task runs: see [timeout].
     * @param timeout how long the task may take from this call to its end, as the [deadline] is measured: positive;
     *   null or infinite means no limit. Then a task that has not been started leaves the queue; in one that runs, the
     *   coroutine of [block] is cancelled, and the slot is free once that has ended. The task fails with
     *   [TaskTimeoutException] then, whatever [block] returns or throws. One that heeds no cancellation goes on.
     * @param runTimeout how long [block] may take, from its begin, as [timeout] otherwise: the wait does not count.
     * @param context added to the context of the scope; a dispatcher in it runs the task.
     * @throws IllegalArgumentException if [timeout] or [runTimeout] is not positive; if [context] contains a `Job`,
     *   because a task belongs to the [scope] alone.
     * @throws Throwable what the clock throws, if it cannot set the timer of a deadline or timeout; the task has been
     *   withdrawn. If it cannot set that of [runTimeout], the task fails with what it throws.
     */
    public fun <T> schedule(
        priority: Priority = Priority.NORMAL,
        key: Any? = null,
        deadline: Duration? = null,
        timeout: Duration? = null,
        runTimeout: Duration? = null,
        context: CoroutineContext = EmptyCoroutineContext,
        block: suspend CoroutineScope.() -> T,
    ): ScheduledTask<T> =
        newTask(priority, key, deadline, timeout, runTimeout, withoutJob(context), block).also {
            it.submit(mayWait = false)
        }

    /**
     * As [schedule], but suspends while the queue is full if the configuration has [OnFullQueue.SUSPEND]. Waiting
     * callers are admitted in the order in which they came, whatever their level. Deadline and timeout count from the
     * call. The returned task may have failed: see [schedule].
     *
     * *Cancellation.* Prompt. The task is cancelled, and its block is not called, unless the queue admitted the task at
     * the same moment. A call that need not wait does not check for cancellation.
     */
    public suspend fun <T> submit(
        priority: Priority = Priority.NORMAL,
        key: Any? = null,
        deadline: Duration? = null,
        timeout: Duration? = null,
        runTimeout: Duration? = null,
        context: CoroutineContext = EmptyCoroutineContext,
        block: suspend CoroutineScope.() -> T,
    ): ScheduledTask<T> {
        val task = newTask(priority, key, deadline, timeout, runTimeout, withoutJob(context), block)
        task.submit(mayWait = true)
        try {
            task.awaitAdmission()
        } catch (e: Throwable) {
            task.cancel(cancellation(task, e))
            throw e
        }
        return task
    }

    /**
     * Runs [block] as a task and returns its value, as `withContext` does: it throws the exception that [block] throws,
     * and returns only after the task has ended. Waits while the queue is full as [submit] does, and boosts the task as
     * [ScheduledTask.await] does.
     *
     * *Context.* [block] has the elements of the caller's context, as in `withContext`: its `CoroutineName`, and its
     * thread context elements, such as those of a logging context. Not the caller's `Job`, dispatcher and level: those
     * are the task's. A `CopyableThreadContextElement` is copied or merged as for a new coroutine.
     *
     * *Cancellation.* Cancels the task and waits for its end. A queued task leaves the queue at once. A caller that is
     * cancelled already schedules no task.
     *
     * @param context replaces elements of the caller's context; a dispatcher in it runs the task.
     * @throws IllegalArgumentException if [context] contains a `Job`.
     * @throws TaskRejectedException if the queue is full; [TaskShedException] if a more urgent task has displaced it.
     * @throws TaskDeadlineException if it was not started before its [deadline].
     * @throws TaskTimeoutException if it has not ended within its [timeout].
     * @throws SchedulerClosedException if the scheduler is closed, before or while the task is queued.
     */
    public suspend fun <T> run(
        priority: Priority = Priority.NORMAL,
        key: Any? = null,
        deadline: Duration? = null,
        timeout: Duration? = null,
        runTimeout: Duration? = null,
        context: CoroutineContext = EmptyCoroutineContext,
        block: suspend CoroutineScope.() -> T,
    ): T {
        val caller = currentCoroutineContext()
        caller.ensureActive()
        val inherited = caller.minusKey(Job).minusKey(ContinuationInterceptor)
        val task = newTask(priority, key, deadline, timeout, runTimeout, inherited + withoutJob(context), block)
        task.submit(mayWait = true)
        try {
            task.awaitAdmission()
            return task.await()
        } catch (e: Throwable) {
            if (!task.isCompleted) {
                task.cancel(cancellation(task, e))
                withContext(NonCancellable) { task.join() }
            }
            throw e
        }
    }

    /**
     * Returns the tasks with this [key] that have not ended, in the order in which they were scheduled. Tasks of the
     * Java API are not among them.
     */
    public fun tasks(key: Any): List<ScheduledTask<*>> =
        keys.of(key).filterIsInstance<ScheduledTask<*>>().filterNot { it.isCompleted }

    /**
     * Cancels the tasks with this [key] that have not ended, queued or running, those of the Java API too. Returns
     * their number. Queued tasks are cancelled before running ones, so none of them gets the slot of another. An
     * exception that the code of a Java task throws meanwhile goes to the uncaught exception handler of the calling
     * thread.
     */
    public fun cancel(key: Any, cause: CancellationException? = null): Int {
        // One look at each task: a sort looks several times, and fails when a task starts between two looks.
        val (queued, started) = keys.of(key).filterNot { it.hasEnded }.partition { it.isNotStarted }
        cancelAll(queued + started, cause)
        return queued.size + started.size
    }

    /**
     * Starts no tasks until [resume]. Running tasks continue, and deadlines continue to count. Pausing a paused
     * scheduler has no effect.
     */
    public fun pause() {
        core.pause()
    }

    /** Ends a [pause]: starts as many queued tasks as [maxConcurrency] allows. */
    public fun resume() {
        core.resume()
    }

    /**
     * Refuses new tasks and waits until all tasks have ended: those that run, are queued, or whose submitters wait for
     * capacity. A task that is scheduled from now on fails with [SchedulerClosedException]. While the scheduler is
     * paused and tasks are queued, this waits until it is resumed. Any number of callers may wait.
     *
     * *Cancellation.* Throws; new tasks are still refused.
     */
    public suspend fun drain() {
        core.drain()
        core.allEnded.await()
    }

    /**
     * Refuses new tasks and removes the waiting ones: tasks that are queued or wait for capacity, and all tasks
     * scheduled from now on, fail with a [SchedulerClosedException] with this [cause]. Running tasks continue; [drain]
     * waits for them. Takes time proportional to the number of queued tasks. A second close has no effect; a close
     * after [drain] still removes the queued tasks.
     */
    public fun close(cause: Throwable? = null) {
        core.close(cause)
    }

    /**
     * Waits until there are no tasks: none runs, is queued, or waits for capacity. Takes new tasks meanwhile and
     * afterwards; for a moment without tasks it returns, however many are scheduled at that moment. While the scheduler
     * is paused and tasks are queued, this waits until it is resumed. A task that calls this waits for itself. Any
     * number of callers may wait.
     *
     * *Cancellation.* Prompt; no effect on the scheduler.
     *
     * *Memory.* The end of the tasks happens-before the return.
     */
    public suspend fun awaitIdle() {
        core.idle()?.await()
    }

    /**
     * Cancels all tasks that wait: those that are queued, and those whose submitters wait for capacity. Running tasks
     * continue, and new ones are accepted. Returns how many there were. Takes time proportional to their number. As
     * with any cancelled task, `await` throws a `CancellationException`.
     */
    public fun clear(): Int = core.clear()

    /** [context] may contain a level; the task's own replaces it. */
    @OptIn(ExperimentalCoroutinesApi::class)
    private fun <T> newTask(
        priority: Priority,
        key: Any?,
        deadline: Duration?,
        timeout: Duration?,
        runTimeout: Duration?,
        context: CoroutineContext,
        block: suspend CoroutineScope.() -> T,
    ): CoroutineTask<T> {
        val controller = PriorityController(priority)
        TASK_NEED.require()
        val job = TaskJob<T>(taskScope.newCoroutineContext(context + controller))
        val limit = limitOf("timeout", timeout)
        val runLimit = limitOf("runTimeout", runTimeout)
        val limits = if (limit == null && runLimit == null) null else TaskTimeLimit(limit, runLimit)
        return CoroutineTask(this, controller, job, key ?: nameIn(context), deadline, limits, block)
    }

    /** Null for no limit. */
    private fun limitOf(name: String, time: Duration?): Duration? {
        require(time == null || time.isPositive()) { "$name = $time, must be positive" }
        return time?.takeIf { it.isFinite() }
    }

    /**
     * Null for the scope's own name. A key shared by all tasks would also be one entry that all threads contend for.
     */
    private fun nameIn(context: CoroutineContext): String? =
        context[CoroutineName]?.takeIf { it != taskScope.coroutineContext[CoroutineName] }?.name

    private fun withoutJob(context: CoroutineContext): CoroutineContext {
        require(context[Job] == null) {
            "context contains ${context[Job]}, must contain no Job: a task belongs to the scheduler's scope. " +
                "Pass context.minusKey(Job)"
        }
        return context
    }

    /** Not [e] itself: code in the task would take the caller's `TimeoutCancellationException` for its own. */
    private fun cancellation(task: CoroutineTask<*>, e: Throwable): CancellationException {
        val reason = if (e is CancellationException) "its caller was cancelled" else "its caller failed"
        return CancellationException("${task.cancellationMessage}: $reason", e)
    }

    /** The scheduler in messages. */
    internal val label: String
        get() = if (name == null) "TaskScheduler" else "TaskScheduler '$name'"

    override fun toString(): String {
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
        require(maxConcurrency >= 1) { "maxConcurrency = $maxConcurrency, must be at least 1" }
    }
}
