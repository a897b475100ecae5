package baton.lincheck.world

import java.util.concurrent.ConcurrentLinkedQueue
import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.intrinsics.createCoroutineUnintercepted
import kotlin.coroutines.resume
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Job
import kotlinx.coroutines.Runnable

/**
 * Coroutines of their own, which an operation of Lincheck's starts, cancels, or resumes: for results that depend on the
 * relative speed of threads, and so are not sequential. Such operations return nothing, and a validation checks the
 * invariant in the end.
 */
internal class LincheckCoroutines {
    private val dispatched = ConcurrentLinkedQueue<Runnable>()
    private val jobs = ConcurrentLinkedQueue<Job>()

    private val dispatcher =
        object : CoroutineDispatcher() {
            override fun dispatch(context: CoroutineContext, block: Runnable) {
                dispatched.add(block)
            }
        }

    /** Runs [block] until it waits. */
    fun <T> start(block: suspend () -> T, then: (Result<T>) -> Unit) {
        val job = Job()
        jobs.add(job)
        block.createCoroutineUnintercepted(Continuation(dispatcher + job, then)).resume(Unit)
    }

    /** Cancels the oldest of the jobs that are not yet cancelled. */
    fun cancelOldest() {
        jobs.poll()?.cancel()
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
