package baton.waiting.threads

import baton.Boosting
import java.util.concurrent.ExecutorService
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicLong
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.resume
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Delay
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.ExecutorCoroutineDispatcher
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.Job
import kotlinx.coroutines.Runnable

private val NEED =
    KotlinxNeed(
        "schedules, monitors and stores on an executor",
        { listOf(PatientDelayDispatcher::class.java) },
        "Delay.scheduleResumeAfterDelay(long, CancellableContinuation)",
        "Delay.invokeOnTimeout(long, Runnable, CoroutineContext)",
    )

/**
 * A [PatientDispatcher] over [underlying], with its clock if it has one. A [Boosting] one runs elsewhere what the
 * dispatcher below it refuses; but the clock of that may refuse, too, and cancel what waits.
 */
@OptIn(InternalCoroutinesApi::class)
internal fun patient(underlying: CoroutineDispatcher, keeper: LoopKeeper): CoroutineContext {
    NEED.require()
    return when (underlying) {
        is Delay -> PatientDelayDispatcher(underlying, underlying, keeper)
        is Boosting -> EmptyCoroutineContext
        else -> PatientDispatcher(underlying, keeper)
    }
}

/**
 * Runs the coroutines of a [LoopKeeper] on [underlying]. A refused block is offered again after a pause, until it is
 * accepted. If its coroutine is cancelled, or the [LoopKeeper] gives up, it runs on Dispatchers.IO: if it is code of
 * users, only to see that it was cancelled.
 *
 * A dispatcher over an executor does not throw when the executor rejects. It cancels the job in the context that it was
 * passed, and runs the block on Dispatchers.IO. So it gets a job that belongs to no coroutine, and a block that looks
 * whether this job was cancelled.
 *
 * The pauses are the system's time: the underlying dispatcher would refuse the end of a delay, too. Whether it was shut
 * down is known of an [ExecutorService] alone.
 */
internal open class PatientDispatcher(
    final override val underlying: CoroutineDispatcher,
    private val keeper: LoopKeeper,
) : CoroutineDispatcher(), DispatcherOver {
    /** When the first refusal was since [underlying] has run a block; [ACCEPTED] if there was none. */
    private val refusedSince = AtomicLong(ACCEPTED)
    private val isGone = AtomicBoolean()

    override fun isDispatchNeeded(context: CoroutineContext): Boolean = underlying.isDispatchNeeded(context)

    override fun dispatch(context: CoroutineContext, block: Runnable): Unit = Offer(context, block).make()

    /** A block on its way to [underlying]. It runs once, even if a dispatcher queues it and then throws. */
    private inner class Offer(private val context: CoroutineContext, private val block: Runnable) : Once() {
        private var pause = SHORTEST_PAUSE_MILLIS
        private var firstRefusal = ACCEPTED

        fun make() {
            val probe = Job()
            try {
                underlying.dispatch(context + probe) { if (probe.isCancelled) refused(causeOf(probe)) else accepted() }
            } catch (e: Throwable) {
                runOn(Dispatchers.IO, EmptyCoroutineContext) { refused(e) }
            }
        }

        private fun accepted() {
            if (refusedSince.get() != ACCEPTED) refusedSince.set(ACCEPTED)
            run()
        }

        private fun run() {
            if (take()) block.run()
        }

        private fun refused(cause: Throwable?) {
            if (isTaken) return
            val now = System.nanoTime() or 1L // Never ACCEPTED.
            if (firstRefusal == ACCEPTED) firstRefusal = now
            val isOver = keeper.isEnding && !keeper.runsUsersCode(context)
            if (isOver || keeper.isCancelled(context)) return run()
            if (isHopeless(now, now - firstRefusal, cause)) return giveUp(cause)
            try {
                Timeouts.schedule(pause) { make() }
                pause = minOf(2 * pause, LONGEST_PAUSE_MILLIS)
            } catch (e: Throwable) {
                // The system has no thread for the timer.
                giveUp(e)
            }
        }

        private fun giveUp(cause: Throwable?) {
            if (keeper.runsUsersCode(context)) {
                val failure = RejectedExecutionException("$underlying has refused to run it", cause)
                context[Job]?.cancel(CancellationException(failure.message, failure))
            }
            run()
        }
    }

    /** [waited]: since the first refusal of this block. The first refusal of all may be that of one cancelled since. */
    private fun isHopeless(now: Long, waited: Long, cause: Throwable?): Boolean {
        // Read once: another coroutine may be accepted at the same time.
        val since = refusedSince.get()
        val isFirst = since == ACCEPTED && refusedSince.compareAndSet(ACCEPTED, now)
        val refused = if (since == ACCEPTED) 0L else minOf(now - since, waited)
        val service = (underlying as? ExecutorCoroutineDispatcher)?.executor as? ExecutorService
        val isShutDown = service != null && service.isShutdown
        val isHopeless = isShutDown || service == null && refused > keeper.longestRefusal.inWholeNanoseconds
        if (isHopeless) keeper.gone(underlying, isShutDown, isReported = isGone.getAndSet(true), cause)
        else if (isFirst) keeper.waits(underlying, cause)
        return isHopeless
    }

    private companion object {
        const val ACCEPTED = 0L
        const val SHORTEST_PAUSE_MILLIS = 10L
        const val LONGEST_PAUSE_MILLIS = 100L

        /** The exception of the executor, by which the job [probe] was cancelled. */
        fun causeOf(probe: Job): Throwable? {
            var cause: Throwable? = null
            probe.invokeOnCompletion { cause = it?.cause ?: it }
            return cause
        }
    }
}

/**
 * A [PatientDispatcher] with timers. `Delay` is an internal API of kotlinx.coroutines. Tested against 1.8.1, 1.10.2 and
 * 1.11.0.
 */
@OptIn(InternalCoroutinesApi::class)
private class PatientDelayDispatcher(
    underlying: CoroutineDispatcher,
    private val timers: Delay,
    private val keeper: LoopKeeper,
) : PatientDispatcher(underlying, keeper), Delay {
    /**
     * Whether a timer fires where a coroutine may go on at once, and must, so that virtual time keeps its order. The
     * timer of a view, such as `limitedParallelism`, fires on a thread outside of it.
     */
    private val isVirtual =
        generateSequence<Class<*>>(underlying.javaClass) { it.superclass }.any { it.name == VIRTUAL }

    private val isClockReported = AtomicBoolean()

    @OptIn(ExperimentalCoroutinesApi::class)
    override fun scheduleResumeAfterDelay(timeMillis: Long, continuation: CancellableContinuation<Unit>) {
        val end = Runnable {
            if (isVirtual) with(continuation) { resumeUndispatched(Unit) } else continuation.resume(Unit)
        }
        val timer = invokeOnTimeout(timeMillis, end, continuation.context)
        continuation.invokeOnCancellation { timer.dispose() }
    }

    /** kotlinx.coroutines has a body for it, but not as a default method before 1.11. */
    @Deprecated("As in kotlinx.coroutines, which does not call it", level = DeprecationLevel.ERROR)
    override suspend fun delay(time: Long): Unit = throw UnsupportedOperationException()

    /**
     * An executor that rejects the timer would cancel the job of [context]. A clock that throws is replaced by the
     * system's.
     */
    override fun invokeOnTimeout(timeMillis: Long, block: Runnable, context: CoroutineContext): DisposableHandle {
        // A clock may have set the timer although it has thrown.
        val once = RunOnce(block)
        try {
            return timers.invokeOnTimeout(timeMillis, once, context + Job())
        } catch (e: Throwable) {
            if (!isClockReported.getAndSet(true)) keeper.lacksClock(timers, e)
        }
        return Timeouts.scheduleAnyhow(timeMillis, once)
    }

    private companion object {
        const val VIRTUAL = "kotlinx.coroutines.test.TestDispatcher"
    }
}
