@file:JvmSynthetic

package baton.tasks

import baton.waiting.coroutine.watchCancellation
import baton.waiting.coroutine.whyCancelled
import baton.waiting.threads.KotlinxNeed
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletionHandler
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.DelicateCoroutinesApi
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.InternalForInheritanceCoroutinesApi
import kotlinx.coroutines.Job
import kotlinx.coroutines.async
import kotlinx.coroutines.selects.SelectClause0
import kotlinx.coroutines.selects.SelectClause1

/**
 * The public view of a [TaskRun]. As a job of its scope, and for cancellation, it is the [runner]; its state while it
 * runs is that of the work, and its end is the outcome.
 *
 * kotlinx.coroutines does not guarantee that `Deferred` can be implemented outside of it. This one exists because no
 * `Deferred` of kotlinx combines several jobs. Tested against kotlinx-coroutines 1.8.1, 1.10.2 and 1.11.0.
 */
@OptIn(
    InternalForInheritanceCoroutinesApi::class,
    InternalCoroutinesApi::class,
    ExperimentalCoroutinesApi::class,
    DelicateCoroutinesApi::class,
)
internal class Task<T>(
    private val scope: CoroutineScope,
    val run: TaskRun<T>,
    private val runner: Deferred<T>,
    override val name: String?,
) : CancellableTask<T>, Deferred<T> by runner {
    /**
     * The runner's parent may see the runner's end before this task does, and a caller that waited for the parent may
     * read the outcome then.
     */
    private val outcome: Deferred<T>
        get() {
            val outcome = run.outcome
            if (!outcome.isCompleted && runner.isCompleted) {
                run.settle(runner.getCompletionExceptionOrNull())
                // Another thread may be completing the outcome. kotlinx then rejects this completion at once, and shows
                // the end only a few steps later; none of those steps runs user code.
                while (!outcome.isCompleted) Thread.yield()
            }
            return outcome
        }

    override fun <R> then(
        context: CoroutineContext,
        teardownTimeout: Duration,
        name: String?,
        block: suspend CancellableTaskScope.(value: T) -> R,
    ): CancellableTask<R> =
        startTask(scope, context, CoroutineStart.UNDISPATCHED, teardownTimeout, name, this) {
            enterDispatcher(label)
            val value = awaitSource(this@Task)
            perform { block(value) }
        }

    override fun <R> thenCompose(
        context: CoroutineContext,
        teardownTimeout: Duration,
        name: String?,
        block: suspend CancellableTaskScope.(value: T) -> CancellableTask<R>,
    ): CancellableTask<R> =
        startTask(scope, context, CoroutineStart.UNDISPATCHED, teardownTimeout, name, this) {
            enterDispatcher(label)
            val value = awaitSource(this@Task)
            perform {
                val inner = block(value) as Task<R>
                switchUpstream(inner)
                awaitSource(inner)
            }
        }

    /**
     * The work, which is cancelled if the runner is: the thread that cancels the runner gets to the work some steps
     * later, and may have to run users' handlers before. A second canceller, which returns at once, must not find the
     * work active.
     */
    private val work: Deferred<T>?
        get() {
            val isCancelled = runner.isCancelled
            val work = run.work
            if (isCancelled && work != null && work.isActive) work.cancel(runner.whyCancelled())
            return work
        }

    override val isActive: Boolean
        get() {
            val work = work ?: return runner.isActive
            return if (work.isCompleted && !work.isCancelled) !isCompleted else work.isActive
        }

    override val isCompleted: Boolean
        get() = outcome.isCompleted

    override val isCancelled: Boolean
        get() {
            // In this order: a cancellation of the runner before the work exists also cancels the work; a later one may
            // not.
            val runnerIs = runner.isCancelled
            return work?.isCancelled ?: runnerIs
        }

    override fun getCancellationException(): CancellationException =
        (if (isCompleted) outcome else run.work ?: runner).getCancellationException()

    override val children: Sequence<Job>
        get() = (run.work ?: runner).children

    override suspend fun join() {
        runner.start()
        outcome.join()
    }

    override suspend fun await(): T {
        runner.start()
        try {
            return outcome.await()
        } catch (e: Throwable) {
            throw run.withSuppressed(e)
        }
    }

    override val onJoin: SelectClause0
        get() {
            runner.start()
            return outcome.onJoin
        }

    override val onAwait: SelectClause1<T>
        get() {
            runner.start()
            return outcome.onAwait
        }

    override fun getCompleted(): T = outcome.getCompleted()

    override fun getCompletionExceptionOrNull(): Throwable? = outcome.getCompletionExceptionOrNull()

    override fun invokeOnCompletion(handler: CompletionHandler): DisposableHandle = outcome.invokeOnCompletion(handler)

    override fun invokeOnCompletion(
        onCancelling: Boolean,
        invokeImmediately: Boolean,
        handler: CompletionHandler,
    ): DisposableHandle =
        (if (onCancelling) runner else outcome).invokeOnCompletion(onCancelling, invokeImmediately, handler)

    override fun toString(): String {
        val state =
            when {
                isCompleted && !isCancelled -> "completed"
                isCompleted && getCompletionExceptionOrNull() is CancellationException -> "cancelled"
                isCompleted -> "failed"
                isCancelled -> "ending without a value"
                isActive -> "active"
                else -> "not started"
            }
        return "${labelOf(name)} ($state)"
    }
}

private val NEED =
    KotlinxNeed(
        "tasks",
        { listOf(Task::class.java) },
        "CoroutineExceptionHandlerKt.handleCoroutineException(CoroutineContext, Throwable)",
    )

/** Starts [body] as a child of [scope], and as a consumer of [source]. */
internal fun <T> startTask(
    scope: CoroutineScope,
    context: CoroutineContext,
    start: CoroutineStart,
    teardownTimeout: Duration,
    name: String?,
    source: Task<*>?,
    body: suspend TaskRun<T>.() -> T,
): Task<T> {
    NEED.require()
    val timeout = maxOf(teardownTimeout, Duration.ZERO)
    val run = TaskRun<T>(scope.coroutineContext + context, timeout, labelOf(name), source)
    // Before the runner exists: it may run at once, and leave the source again.
    source?.run?.consumers?.incrementAndGet()
    val runner = scope.async(context, start) { run.body() }
    runner.invokeOnCompletion(run::settle)
    val task = Task(scope, run, runner, name)
    if (source != null) {
        runner.watchCancellation { cause -> if (cause != null) run.abandonUpstream(reasonOf(cause, run, source)) }
        if (!runner.isActive) run.abandonUpstream(runner.whyCancelled())
    }
    return task
}

private fun reasonOf(cause: Throwable, run: TaskRun<*>, source: Task<*>) =
    cause as? CancellationException
        ?: CancellationException("${labelOf(source.name)} was cancelled: its consumer ${run.label} failed", cause)

private fun labelOf(name: String?) = if (name == null) "CancellableTask" else "CancellableTask '$name'"
