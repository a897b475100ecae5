package baton.lincheck.world

import java.util.concurrent.ConcurrentLinkedQueue
import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.intrinsics.createCoroutineUnintercepted
import kotlin.coroutines.resume
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Delay
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.Job
import kotlinx.coroutines.Runnable

/**
 * Coroutines of their own, which an operation of Lincheck's starts, cancels, or resumes: for results that depend on the
 * relative speed of threads, and so are not sequential. Such operations return nothing, and a validation checks the
 * invariant in the end.
 */
internal class LincheckCoroutines {
    private val dispatched = ConcurrentLinkedQueue<Runnable>()
    private val running = ConcurrentLinkedQueue<Caller>()
    private val cancelled = ConcurrentLinkedQueue<Caller>()

    private val timers = ConcurrentLinkedQueue<Runnable>()

    private val dispatcher =
        object : CoroutineDispatcher(), Delay {
            override fun dispatch(context: CoroutineContext, block: Runnable) {
                dispatched.add(block)
            }

            override fun invokeOnTimeout(
                timeMillis: Long,
                block: Runnable,
                context: CoroutineContext,
            ): DisposableHandle {
                timers.add(block)
                return DisposableHandle { timers.remove(block) }
            }

            override fun scheduleResumeAfterDelay(timeMillis: Long, continuation: CancellableContinuation<Unit>): Unit =
                throw UnsupportedOperationException()
        }

    /** Runs [block] until it waits. */
    fun <T> start(block: suspend () -> T, then: (Result<T>) -> Unit) {
        val caller = Caller()
        running.add(caller)
        val completion =
            Continuation<T>(dispatcher + caller.job) { result ->
                caller.hasEnded = true
                then(result)
            }
        block.createCoroutineUnintercepted(completion).resume(Unit)
    }

    /** Cancels the oldest of the jobs that are not yet cancelled. */
    fun cancelOldest() {
        val caller = running.poll() ?: return
        caller.job.cancel()
        cancelled.add(caller)
    }

    /** To be called when all that was dispatched has run. */
    fun checkCancelledHaveEnded() {
        check(cancelled.all { it.hasEnded }) { "a cancelled caller has not returned" }
    }

    private class Caller {
        val job = Job()

        @Volatile var hasEnded = false
    }

    /** The timer that was set first goes off. */
    fun timePasses() {
        timers.poll()?.run()
    }

    /** Runs the block that was dispatched first; returns false when there is none. */
    fun step(): Boolean {
        (dispatched.poll() ?: return false).run()
        return true
    }

    fun runAll() {
        while (step()) {
            /* on */
        }
    }
}

/** The results of the operations: none. */
@Suppress("unused") // Lincheck finds by name what it needs.
internal class NoAnswers {
    fun acquire() = Unit

    fun tryAcquire() = Unit

    fun release() = Unit

    fun receive() = Unit

    fun tryReceive() = Unit

    fun trySend() = Unit

    fun cancel() = Unit

    fun step() = Unit
}
