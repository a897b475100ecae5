package baton.scheduler.tasks

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

/**
 * The coroutine of a task, which is there before it is the task's turn: so a task that is cancelled or refused while it
 * is queued ends without a second job, by the exception that is said to [end].
 *
 * `AbstractCoroutine` is an internal API of kotlinx.coroutines, of which only `async` and its kin are public: they
 * begin at once, or when somebody awaits them. Tested against kotlinx-coroutines 1.9.0, 1.10.2 and 1.11.0.
 */
@OptIn(
    InternalCoroutinesApi::class,
    InternalForInheritanceCoroutinesApi::class,
    ExperimentalCoroutinesApi::class,
)
internal class TaskJob<T>(context: CoroutineContext) :
    AbstractCoroutine<T>(context, initParentJob = false, active = true),
    Deferred<T> {
    lateinit var owner: Owner

    /** Who owns a job hears of its life. */
    interface Owner {
        /** It is being cancelled, and has not yet ended. */
        fun cancelling(cause: Throwable)

        /** It has ended with a value, as others can see; those who wait for that have not been told. */
        fun ended()

        /** It has ended in any way, and those who waited for that have been told. */
        fun gone()
    }

    fun attachTo(parent: Job) = initParentJob(parent)

    /** Runs [block] until it suspends for the first time, on this thread; one that has been cancelled ends at once. */
    fun runHere(block: suspend CoroutineScope.() -> T) {
        if (isActive) start(CoroutineStart.UNDISPATCHED, this, block) else end(getCancellationException())
    }

    /** Sends [block] to where the context says. */
    fun dispatch(block: suspend CoroutineScope.() -> T) = start(CoroutineStart.DEFAULT, this, block)

    /** It has failed without a block that could. To be called by whoever keeps the block from running. */
    fun end(failure: Throwable) = resumeWith(Result.failure(failure))

    override fun onCancelling(cause: Throwable?) {
        if (cause != null) owner.cancelling(cause)
    }

    /** kotlinx calls this sometimes before others can see it: whoever began then would begin before this has ended. */
    override fun onCompleted(value: T) {
        if (isCompleted) owner.ended()
    }

    override fun afterCompletion(state: Any?) = owner.gone()

    @Suppress("UNCHECKED_CAST") // what the block has answered
    override suspend fun await(): T = awaitInternal() as T

    override fun getCompleted(): T {
        getCompletionExceptionOrNull()?.let { throw it }
        // It has ended: to await it suspends nobody, and answers here.
        var outcome: Result<T>? = null
        suspend { await() }.startCoroutine(Continuation(EmptyCoroutineContext) { outcome = it })
        return checkNotNull(outcome) { "$this has not ended" }.getOrThrow()
    }

    @Suppress("UNCHECKED_CAST") // as above
    override val onAwait: SelectClause1<T>
        get() = onAwaitInternal as SelectClause1<T>
}
