package baton.tasks

import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.InternalForInheritanceCoroutinesApi

/**
 * A [Deferred] whose block can say how to clean up after it, and whose cancellation reaches the tasks it was derived
 * from.
 *
 * Use it for work that acquires something which must be given back if the work comes to nothing, or that others
 * continue. Where `try` and `finally` in one coroutine do, `async` is simpler.
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
 * block, all that the block has started, and then its teardowns have ended. So a parent ends after the teardowns of its
 * children, and theirs run before its own.
 *
 * *Teardowns.* See [CancellableTaskScope.onTeardown]. They run if and only if the task ends without a value, in its
 * dispatcher and shielded from cancellation. What they throw is suppressed in the exception the task fails with; that
 * of a cancelled task is then one of its own, with the message of the reason and the reason as its cause.
 *
 * *Consumers* of a task are the tasks that [then] and [thenCompose] derive from it, and those which got it from the
 * block of their [thenCompose]. When the last of them is cancelled, the task is cancelled, with the same reason; as
 * long as one is left it goes on. Whoever just awaits the task does not hold it, and does not cancel it.
 *
 * *Cancellation.* The reason, message and cause, reaches the block, the teardowns, the consumers, and all who await the
 * task. When `cancel` returns, it has reached the source of the chain, unless another thread is just cancelling a
 * task nearer to the source: then that one brings it there. A cancelled task completes after the sources that its
 * cancellation has cancelled. A cancel that comes when the block and all it started have ended with a value is
 * too late: the task completes with the value.
 *
 * *Failure.* As that of `async`: it cancels the parent, unless that is a supervisor, and is thrown by `await`.
 * Consumers of a failed task fail with the same exception.
 *
 * *Memory.* What the block and the teardowns do happens before whatever follows an `await` or `join` of the task, and
 * before the blocks of its consumers.
 *
 * *Misuse.* A block or teardown that awaits its own task, or one derived from it, waits for ever.
 *
 * All members may be called from any thread.
 */
@OptIn(InternalForInheritanceCoroutinesApi::class)
public sealed interface CancellableTask<out T> : Deferred<T> {
    /** Shown by messages and `toString`. */
    public val name: String?

    /**
     * A task that runs [block] with the value of this one, as a new child of the scope in which this one was started.
     * Starts this one if it was lazy. Without a value, [block] does not run, and the new task ends as this one did.
     *
     * *Cancellation.* See Consumers above.
     *
     * @param context added to that of the scope.
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
     * As [then], but [block] answers another task, and the new task ends as that one does. It is a consumer of that
     * one, too: cancelled meanwhile, it cancels it, unless that has other consumers.
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
 * @param context added to that of the scope.
 * @param start as of `async`. A task that is cancelled before its block has begun never runs it, but with
 *   [CoroutineStart.ATOMIC] and [CoroutineStart.UNDISPATCHED].
 * @param teardownTimeout how long all teardowns together may take, counted from the beginning of the first one. The
 *   time is not divided up: whoever comes first may use all of it. When it is over, the teardown that runs is
 *   cancelled, and those left still run, one by one, but cancelled from the beginning: as far as they need not suspend.
 *   Each that did not come to its end is reported by a [TeardownTimeoutException] among the suppressed ones. Zero or
 *   negative means that none may suspend.
 * @param name shown by messages and `toString`.
 */
public fun <T> CoroutineScope.cancellableTask(
    context: CoroutineContext = EmptyCoroutineContext,
    start: CoroutineStart = CoroutineStart.DEFAULT,
    teardownTimeout: Duration = Duration.INFINITE,
    name: String? = null,
    block: suspend CancellableTaskScope.() -> T,
): CancellableTask<T> = startTask(this, context, start, teardownTimeout, name, source = null) { perform(block) }
