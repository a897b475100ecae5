package baton.tasks

import baton.waiting.coroutine.whyCancelled
import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.resume
import kotlin.coroutines.suspendCoroutine
import kotlin.time.Duration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.Job
import kotlinx.coroutines.async
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job

/**
 * How a task goes.
 *
 * ```
 * scope
 *   └ runner    waits for the source · starts the work · waits for its end · runs the teardowns
 *       └ work  the block
 *           └   whatever the block starts
 * outcome       what the task tells; completed when the runner is, by whoever notices it first
 * ```
 * 1. kotlinx decides by one compare-and-set whether the work ends with a value or without, cancellations from anywhere
 *    included. Nothing else decides: after a value a cancelled runner still brings the value, and no teardown runs.
 * 2. The runner lives until the last teardown has ended, and so does its parent.
 * 3. A task is counted by what it waits for, its upstream, until it leaves that. Leaving happens once, in one step with
 *    the counting. Whoever brings the count to zero cancels. The canceller of a task, and its runner that finds itself
 *    cancelled, each go along the chain all the way.
 * 4. A chain is left in a loop, not by each cancellation setting off the next: the stack stays flat.
 */
@OptIn(ExperimentalCoroutinesApi::class)
internal class TaskRun<T>(
    context: CoroutineContext,
    teardownTimeout: Duration,
    label: String,
    source: Task<*>?,
) {
    val outcome = CompletableDeferred<T>()

    /** The block and what it has started. Null before, also while the task waits for its source. */
    @Volatile
    var work: Deferred<T>? = null
        private set

    private val teardowns = TeardownRunner(context, teardownTimeout, label)

    /** What the task fails with if its work does. Written by the runner at its end. */
    private var failure: Throwable? = null

    /** How many tasks wait for this one. What has been counted is not taken back when they get its value. */
    val consumers = AtomicInteger()

    private var upstream: Task<*>? = source
    private var leftBecause: CancellationException? = null
    private var leaving: Chain? = null

    /** Waits for the value of [source], from which it was derived or which its block has answered. */
    suspend fun <S> follow(source: Task<S>): S {
        source.start()
        try {
            source.run.outcome.join()
        } catch (_: CancellationException) {
            val reason = currentCoroutineContext().job.whyCancelled()
            abandonUpstream(reason)
            // Nobody is left there, it is being cancelled or has ended: so it comes first.
            if (source.run.consumers.get() == 0) source.run.outcome.awaitEnd()
            throw reason
        }
        // It has ended; nothing must keep it.
        synchronized(this) { upstream = null }
        return source.run.outcome.getCompleted()
    }

    /** Has a task counted that the block has answered. */
    fun turnTo(inner: Task<*>) {
        inner.run.consumers.incrementAndGet()
        val why =
            synchronized(this) {
                upstream = inner
                leftBecause
            }
        if (why != null) abandonUpstream(why)
    }

    /** Leaves what this task waits for, and cancels it where this was the last consumer; and so on. */
    fun abandonUpstream(reason: CancellationException) {
        val chain = leaveChain(reason) ?: return
        var index = 0
        var task = chain.at(index)
        while (task != null) {
            // Left before it is cancelled, so that its own cancellation finds nothing to do.
            val next = chain.at(++index)
            task.cancel(reason)
            task = next
        }
        synchronized(this) { if (leaving === chain) leaving = null }
    }

    /**
     * What is left, link by link, when a task leaves its upstream. The canceller and the runner that finds itself
     * cancelled may both be about to do it: each then goes all the way, so that neither returns before it is done.
     */
    private class Chain(first: Task<*>, private val reason: CancellationException) {
        private val links: MutableList<Task<*>> = arrayListOf(first)

        /** To come beyond the last, leaves what that waits for; null if there is nothing, or it has other consumers. */
        @Synchronized
        fun at(index: Int): Task<*>? {
            if (index == links.size) links += links.last().run.leave(reason) ?: return null
            return links[index]
        }
    }

    /** The chain that this task leaves now, by whoever began; null if it has left, or has nothing to leave. */
    @Synchronized
    private fun leaveChain(reason: CancellationException): Chain? {
        val left = leave(reason)
        if (left != null) leaving = Chain(left, reason)
        return leaving
    }

    /** Answers the task left if it has no other consumer. */
    @Synchronized
    private fun leave(reason: CancellationException): Task<*>? {
        leftBecause = leftBecause ?: reason
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

    private inner class WorkScope(scope: CoroutineScope) :
        CancellableTaskScope,
        CoroutineScope by scope {
        override fun onTeardown(teardown: suspend (cause: Throwable) -> Unit): DisposableHandle =
            teardowns.register(teardown)
    }

    /**
     * The runner has ended, with [cause] itself: it may have been cancelled too late, or not have come to any work. May
     * be called again.
     */
    fun settle(cause: Throwable?) {
        val work = work
        val told = if (work == null) cause else failure ?: work.getCompletionExceptionOrNull()
        when {
            told == null -> outcome.complete(checkNotNull(work).getCompleted())
            // Another child of the runner, somebody who has named the task as his parent.
            told is CancellationException && cause != null && cause !is CancellationException -> {
                if (told !== work?.getCompletionExceptionOrNull() && cause.suppressed.none { it === told }) {
                    cause.addSuppressed(told)
                }
                outcome.completeExceptionally(cause)
            }
            else -> outcome.completeExceptionally(told)
        }
    }

    /** kotlinx may throw a copy of what the task failed with, to show where it was awaited, without the suppressed. */
    fun withSuppressed(thrown: Throwable): Throwable {
        val own = if (outcome.isCompleted) outcome.getCompletionExceptionOrNull() else null
        val cause = thrown.cause
        if (own == null || own === thrown || cause == null || own.javaClass != thrown.javaClass) return thrown
        if (cause !== own && cause !== own.cause) return thrown
        val kept = thrown.suppressed
        for (failure in own.suppressed) if (kept.none { it === failure }) thrown.addSuppressed(failure)
        return thrown
    }
}

/** Waits for its end, even if the caller is cancelled. */
internal suspend fun Job.awaitEnd() = suspendCoroutine { caller -> invokeOnCompletion { caller.resume(Unit) } }
