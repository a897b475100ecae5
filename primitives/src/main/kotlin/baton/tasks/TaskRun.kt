package baton.tasks

import baton.tasks.core.TeardownRunner
import baton.tasks.core.awaitEnd
import baton.waiting.coroutine.whyCancelled
import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.async
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job

/**
 * The execution of a task.
 *
 * ```
 * scope
 *   └ runner    waits for the source · starts the work · waits for its end · runs the teardowns
 *       └ work  the block
 *           └   the coroutines that the block starts
 * outcome       the result of the task; completed after the runner, by the first thread that sees the runner's end
 * ```
 * 1. kotlinx decides by one compare-and-set whether the work ends with a value or without, including cancellations from
 *    any thread. That alone decides: after a value a cancelled runner still returns the value, and no teardown runs.
 * 2. The runner lives until the last teardown has ended, and so does its parent.
 * 3. A task counts as a consumer of the task it waits for, its upstream, until it leaves that. It leaves once, in one
 *    step with the change of the count. The thread that reduces the count to zero cancels the upstream. The canceller
 *    of a task, and its runner when that finds itself cancelled, each follow the chain to its end.
 * 4. A loop leaves the chain; a cancellation does not trigger the next one. So the stack stays flat.
 */
@OptIn(ExperimentalCoroutinesApi::class)
internal class TaskRun<T>(context: CoroutineContext, teardownTimeout: Duration, val label: String, source: Task<*>?) {
    val outcome = CompletableDeferred<T>()

    /** The block and the coroutines that it has started. Null before that, also while the task waits for its source. */
    @Volatile
    var work: Deferred<T>? = null
        private set

    private val teardowns = TeardownRunner(context, teardownTimeout, label)

    /** The exception with which the task fails if its work does. Written by the runner at its end. */
    private var failure: Throwable? = null

    /** How many tasks wait for this one. A task that has got the value stays counted. */
    val consumers = AtomicInteger()

    private var upstream: Task<*>? = source
    private var leaveReason: CancellationException? = null
    private var activeChain: Chain? = null

    /** Waits for the value of [source], from which this task was derived or which its block has returned. */
    suspend fun <S> awaitSource(source: Task<S>): S {
        source.start()
        try {
            source.run.outcome.join()
        } catch (_: CancellationException) {
            val reason = currentCoroutineContext().job.whyCancelled()
            abandonUpstream(reason)
            // A source that is being cancelled completes before this task, also if it has got a new consumer meanwhile.
            // One without consumers is being cancelled or has ended.
            if (source.isCancelled || source.run.consumers.get() == 0) source.run.outcome.awaitEnd()
            throw reason
        }
        // The source has ended: drop the reference, so that it can be collected.
        synchronized(this) { upstream = null }
        return source.run.outcome.getCompleted()
    }

    /** Makes [inner], the task that the block has returned, the upstream, and counts this task as its consumer. */
    fun switchUpstream(inner: Task<*>) {
        inner.run.consumers.incrementAndGet()
        val why =
            synchronized(this) {
                upstream = inner
                leaveReason
            }
        if (why != null) abandonUpstream(why)
    }

    /** Leaves the upstream, and cancels it if this was its last consumer; and so on along the chain. */
    fun abandonUpstream(reason: CancellationException) {
        val chain = leaveChain(reason) ?: return
        var index = 0
        var task = chain.at(index)
        while (task != null) {
            // The task leaves its upstream before it is cancelled, so that its own cancellation finds nothing to do.
            val next = chain.at(++index)
            task.cancel(reason)
            task = next
        }
        synchronized(this) { if (activeChain === chain) activeChain = null }
    }

    /**
     * The tasks to cancel, link by link, when a task leaves its upstream. The canceller and the cancelled runner may do
     * this at the same time: each follows the whole chain, so that neither returns before all of it is cancelled.
     */
    private class Chain(first: Task<*>, private val reason: CancellationException) {
        private val links: MutableList<Task<*>> = arrayListOf(first)

        /**
         * The link at [index]. For the link after the last, the last task leaves its upstream; null if it has none, or
         * if the upstream has other consumers.
         */
        @Synchronized
        fun at(index: Int): Task<*>? {
            if (index == links.size) links += links.last().run.leaveUpstream(reason) ?: return null
            return links[index]
        }
    }

    /**
     * The chain that this task is leaving, started by this or another thread; null if there is nothing left to leave.
     */
    @Synchronized
    private fun leaveChain(reason: CancellationException): Chain? {
        val left = leaveUpstream(reason)
        if (left != null) activeChain = Chain(left, reason)
        return activeChain
    }

    /** Leaves the upstream. Returns it if it has no other consumer, else null. */
    @Synchronized
    private fun leaveUpstream(reason: CancellationException): Task<*>? {
        leaveReason = leaveReason ?: reason
        val left = upstream ?: return null
        upstream = null
        return if (left.run.consumers.decrementAndGet() == 0) left else null
    }

    suspend fun perform(block: suspend CancellableTaskScope.() -> T): T {
        val work =
            CoroutineScope(currentCoroutineContext()).async(start = CoroutineStart.UNDISPATCHED) {
                @Suppress("UNCHECKED_CAST")
                work = coroutineContext.job as Deferred<T>
                WorkScope(this).block()
            }
        work.awaitEnd()
        val cause = work.getCompletionExceptionOrNull()
        if (cause != null) {
            failure = teardowns.run(cause)
            throw cause
        }
        teardowns.drop()
        return work.getCompleted()
    }

    private inner class WorkScope(scope: CoroutineScope) : CancellableTaskScope, CoroutineScope by scope {
        override fun onTeardown(teardown: suspend (cause: Throwable) -> Unit): DisposableHandle =
            teardowns.register(teardown)
    }

    /**
     * Completes the outcome after the runner has ended with [cause]: the runner may have been cancelled too late, or
     * before it started any work. May be called several times.
     */
    fun settle(cause: Throwable?) {
        val work = work
        val reported = if (work == null) cause else failure ?: work.getCompletionExceptionOrNull()
        when {
            reported == null -> outcome.complete(checkNotNull(work).getCompleted())
            // Another child of the runner has failed: a coroutine whose creator named the task as its parent.
            reported is CancellationException && cause != null && cause !is CancellationException -> {
                if (reported !== work?.getCompletionExceptionOrNull() && cause.suppressed.none { it === reported }) {
                    cause.addSuppressed(reported)
                }
                outcome.completeExceptionally(cause)
            }
            else -> outcome.completeExceptionally(reported)
        }
    }

    /**
     * Adds the suppressed exceptions to a copy that kotlinx may throw instead of the task's exception, to show where it
     * was awaited.
     */
    fun withSuppressed(thrown: Throwable): Throwable {
        val original = if (outcome.isCompleted) outcome.getCompletionExceptionOrNull() else null
        val cause = thrown.cause
        if (original == null || original === thrown || cause == null) return thrown
        if (original.javaClass != thrown.javaClass) return thrown
        if (cause !== original && cause !== original.cause) return thrown
        val kept = thrown.suppressed
        for (failure in original.suppressed) if (kept.none { it === failure }) thrown.addSuppressed(failure)
        return thrown
    }
}
