package baton.tasks

import baton.waiting.coroutine.watchCancellation
import baton.waiting.coroutine.whyCancelled
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
 * The face of a [TaskRun]: to its scope and to those who cancel it, it is the [runner]; how it goes the work says, and
 * how it has ended the outcome.
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
) : CancellableTask<T>,
    Deferred<T> by runner {
    /** The runner's parent may hear of its end before we do, and somebody who has waited for that may ask. */
    private val outcome: Deferred<T>
        get() {
            val outcome = run.outcome
            if (!outcome.isCompleted && runner.isCompleted) {
                run.settle(runner.getCompletionExceptionOrNull())
                // Another thread may be in the middle of it: kotlinx then refuses us at once, though it shows the end a
                // few steps later, none of which is anybody's code.
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
            enterDispatcher()
            val value = follow(this@Task)
            perform { block(value) }
        }

    override fun <R> thenCompose(
        context: CoroutineContext,
        teardownTimeout: Duration,
        name: String?,
        block: suspend CancellableTaskScope.(value: T) -> CancellableTask<R>,
    ): CancellableTask<R> =
        startTask(scope, context, CoroutineStart.UNDISPATCHED, teardownTimeout, name, this) {
            enterDispatcher()
            val value = follow(this@Task)
            perform {
                val inner = block(value) as Task<R>
                turnTo(inner)
                follow(inner)
            }
        }

    override val isActive: Boolean
        get() {
            val work = run.work ?: return runner.isActive
            return if (work.isCompleted && !work.isCancelled) !isCompleted else work.isActive
        }

    override val isCompleted: Boolean get() = outcome.isCompleted

    override val isCancelled: Boolean
        get() {
            // In this order: what cancels the runner before there is work cancels the work, what comes later need not.
            val runnerIs = runner.isCancelled
            return run.work?.isCancelled ?: runnerIs
        }

    override fun getCancellationException(): CancellationException =
        (if (isCompleted) outcome else run.work ?: runner).getCancellationException()

    override val children: Sequence<Job> get() = (run.work ?: runner).children

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
    val timeout = maxOf(teardownTimeout, Duration.ZERO)
    val run = TaskRun<T>(scope.coroutineContext + context, timeout, labelOf(name), source)
    // First: the runner may begin at once, and leave.
    source?.run?.consumers?.incrementAndGet()
    val runner = scope.async(context, start) { run.body() }
    runner.invokeOnCompletion(run::settle)
    val task = Task(scope, run, runner, name)
    if (source != null) {
        runner.watchCancellation { cause -> if (cause != null) run.abandonUpstream(reasonOf(cause)) }
        if (!runner.isActive) run.abandonUpstream(runner.whyCancelled())
    }
    return task
}

private fun reasonOf(cause: Throwable) =
    cause as? CancellationException ?: CancellationException("A consumer has failed", cause)

private fun labelOf(name: String?) = if (name == null) "CancellableTask" else "CancellableTask '$name'"
