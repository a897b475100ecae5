package baton.scheduler.tasks

import baton.waiting.threads.KotlinxNeed
import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.AbstractCoroutine
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.InternalForInheritanceCoroutinesApi
import kotlinx.coroutines.Job
import kotlinx.coroutines.selects.SelectClause1

/** Required before the first use of [TaskJob], which cannot be loaded where the class above it is missing. */
@OptIn(InternalCoroutinesApi::class)
internal val TASK_NEED =
    KotlinxNeed(
        "tasks of a TaskScheduler",
        { listOf(TaskJob::class.java, GroupJob::class.java) },
        "AbstractCoroutine.start(CoroutineStart, Object, Function2)",
        "AbstractCoroutine.initParentJob(Job)",
        "AbstractCoroutine.awaitInternal(Continuation)",
        "AbstractCoroutine.getOnAwaitInternal()",
        "AbstractCoroutine.onCancelling(Throwable)",
        "AbstractCoroutine.onCompleted(Object)",
        "AbstractCoroutine.afterCompletion(Object)",
        "AbstractCoroutine.cancellationExceptionMessage()",
    )

/**
 * The coroutine of a task. It exists before the task is started: so a task that is cancelled or refused while it is
 * queued ends without a second job, with the exception passed to [end].
 *
 * `AbstractCoroutine` is an internal API of kotlinx.coroutines. Of the public builders, `async` and the like begin at
 * once or when a caller first awaits them. Tested against kotlinx-coroutines 1.8.1, 1.10.2 and 1.11.0.
 */
@OptIn(InternalCoroutinesApi::class, InternalForInheritanceCoroutinesApi::class, ExperimentalCoroutinesApi::class)
internal class TaskJob<T>(context: CoroutineContext) :
    AbstractCoroutine<T>(context, initParentJob = false, active = true), Deferred<T> {
    lateinit var owner: Owner

    /** The job notifies its owner of changes. */
    interface Owner {
        val group: GroupJob?

        /** The message of a cancellation for which the canceller gives no cause. */
        val cancellationMessage: String

        /** The job is being cancelled and has not yet completed. */
        fun onCancelling(cause: Throwable)

        /** The job has completed with a value, visibly to other threads; its awaiters have not been resumed. */
        fun onValue()

        /** The job has completed in any way, and its awaiters have been resumed. */
        fun onCompleted()
    }

    /** Runs [block] on this thread until its first suspension. If the job has been cancelled, completes it instead. */
    fun runHere(block: suspend CoroutineScope.() -> T) {
        if (isActive) start(CoroutineStart.UNDISPATCHED, this, block) else end(getCancellationException())
    }

    /** Dispatches [block] by the dispatcher in the context. */
    fun dispatch(block: suspend CoroutineScope.() -> T) = start(CoroutineStart.DEFAULT, this, block)

    /** Fails the job without its block. Only the thread that has prevented the block from running may call this. */
    fun end(failure: Throwable) = resumeWith(Result.failure(failure))

    /** The group, although it has no list of its children; see [GroupJob]. */
    override val parent: Job?
        get() = owner.group

    override fun cancellationExceptionMessage(): String = owner.cancellationMessage

    override fun onCancelling(cause: Throwable?) {
        if (cause != null) owner.onCancelling(cause)
    }

    /**
     * kotlinx sometimes calls this before other threads can see the completion. A next task started then would begin
     * before this one has visibly ended.
     */
    override fun onCompleted(value: T) {
        if (isCompleted) owner.onValue()
    }

    override fun afterCompletion(state: Any?) = owner.onCompleted()

    @Suppress("UNCHECKED_CAST") // the value that the block has returned
    override suspend fun await(): T = awaitInternal() as T

    override fun getCompleted(): T {
        getCompletionExceptionOrNull()?.let { throw it }
        // The job has completed, so `await` returns without suspending.
        var outcome: Result<T>? = null
        suspend { await() }.startCoroutine(Continuation(EmptyCoroutineContext) { outcome = it })
        return checkNotNull(outcome) { "$this has not ended" }.getOrThrow()
    }

    @Suppress("UNCHECKED_CAST") // as above
    override val onAwait: SelectClause1<T>
        get() = onAwaitInternal as SelectClause1<T>
}
