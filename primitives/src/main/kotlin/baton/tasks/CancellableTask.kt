package baton.tasks

import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.InternalForInheritanceCoroutinesApi

/**
 * A [Deferred] whose block can register teardowns, and whose cancellation reaches the tasks from which it was derived.
 *
 * Use it for work that acquires resources which must be released if the work fails or is cancelled, or for work that
 * other tasks continue. If `try` and `finally` in one coroutine suffice, `async` is simpler.
 *
 * ```
 * val upload = scope.cancellableTask {
 *     val draft = server.newDraft()
 *     onTeardown { server.discard(draft) }
 *     server.fill(draft, file)
 * }
 * val link = upload.then { it.publish() }
 * link.cancel() // stops the upload too, and discards the draft
 * ```
 *
 * *Waiting.* [await][Deferred.await] and [join][kotlinx.coroutines.Job.join] suspend until the task is completed: its
 * block, all coroutines that the block has started, and then its teardowns have ended. So a parent ends after the
 * teardowns of its children, and theirs run before its own.
 *
 * *Teardowns.* See [CancellableTaskScope.onTeardown]. They run if and only if the task ends without a value, in its
 * dispatcher and shielded from cancellation. Their exceptions are suppressed in the exception with which the task
 * fails; for a cancelled task this is a new CancellationException, with the message of the reason and the reason as its
 * cause.
 *
 * *Consumers* of a task are the tasks that [then] and [thenCompose] derive from it, and the tasks whose [thenCompose]
 * block returned it. When the last consumer is cancelled, the task is cancelled with the same reason; while one is
 * left, the task goes on. A caller that only awaits the task is no consumer: it neither keeps the task going nor
 * cancels it.
 *
 * *Cancellation.* The reason, with its message and cause, reaches the block, the teardowns, the consumers, and all
 * callers that await the task. When `cancel` returns, the cancellation has reached the source of the chain, unless
 * another thread is just cancelling a task nearer to the source: then that thread passes it on. A cancelled task
 * completes after the sources that its cancellation has cancelled. A cancel after the block and all coroutines that it
 * started have ended with a value is too late: the task completes with the value.
 *
 * *Failure.* As that of `async`: it cancels the parent, unless that is a supervisor, and is thrown by `await`.
 * Consumers of a failed task fail with the same exception.
 *
 * *Memory.* Actions of the block and the teardowns happen before the actions that follow an `await` or `join` of the
 * task, and before the blocks of its consumers.
 *
 * *Misuse.* A block or teardown that awaits its own task, or one derived from it, waits for ever.
 *
 * All members may be called from any thread.
 */
@OptIn(InternalForInheritanceCoroutinesApi::class)
public sealed interface CancellableTask<out T> : Deferred<T> {
    /** The name shown by messages and `toString`. */
    public val name: String?

    /**
     * Derives a task that runs [block] with the value of this one, as a new child of the scope in which this task was
     * started. Starts this task if it was lazy. If this task ends without a value, [block] does not run, and the new
     * task ends as this one did.
     *
     * *Cancellation.* See Consumers above.
     *
     * @param context added to the scope's context.
     * @param teardownTimeout for all teardowns of the new task, see [cancellableTask].
     * @param name shown by messages and `toString`.
     */
    public fun <R> then(
        context: CoroutineContext = EmptyCoroutineContext,
        teardownTimeout: Duration = Duration.INFINITE,
        name: String? = null,
        block: suspend CancellableTaskScope.(value: T) -> R,
    ): CancellableTask<R>

    /**
     * As [then], but [block] returns another task, and the new task ends as that one does. The new task is a consumer
     * of that one too: if the new task is cancelled meanwhile, so is that one, unless it has other consumers.
     */
    public fun <R> thenCompose(
        context: CoroutineContext = EmptyCoroutineContext,
        teardownTimeout: Duration = Duration.INFINITE,
        name: String? = null,
        block: suspend CancellableTaskScope.(value: T) -> CancellableTask<R>,
    ): CancellableTask<R>
}

/**
 * Starts [block] as a new child of this scope.
 *
 * @param context added to the scope's context.
 * @param start as of `async`. A task that is cancelled before its block has started does not run it, except with
 *   [CoroutineStart.ATOMIC] and [CoroutineStart.UNDISPATCHED].
 * @param teardownTimeout how long all teardowns together may take, counted from the start of the first one. The time is
 *   not divided among them: the first one may use all of it. When it is over, the running teardown is cancelled, and
 *   the remaining ones still run, one by one, but cancelled from the start: up to their first suspension. For each
 *   teardown that was cut short there is a [TeardownTimeoutException] among the suppressed exceptions. With zero or
 *   less no teardown may suspend.
 * @param name shown by messages and `toString`.
 */
public fun <T> CoroutineScope.cancellableTask(
    context: CoroutineContext = EmptyCoroutineContext,
    start: CoroutineStart = CoroutineStart.DEFAULT,
    teardownTimeout: Duration = Duration.INFINITE,
    name: String? = null,
    block: suspend CancellableTaskScope.() -> T,
): CancellableTask<T> = startTask(this, context, start, teardownTimeout, name, source = null) { perform(block) }
