package baton.shared.waiting

import baton.waiting.threads.HandOverExecutor
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.SynchronousQueue
import java.util.concurrent.ThreadPoolExecutor
import java.util.concurrent.TimeUnit

/**
 * Daemon threads that sleep for coroutines, one per word that they wait for, and for virtual threads that block, one
 * each. Callers for which there is none poll. A shared pool would starve, if the coroutine that unlocks needs a thread
 * of it.
 */
internal object SleeperPool {
    const val MAX_THREADS = 64
    private const val IDLE_SECONDS = 5L

    private val threads =
        ThreadPoolExecutor(0, MAX_THREADS, IDLE_SECONDS, TimeUnit.SECONDS, SynchronousQueue()) { task ->
            HandOverExecutor.daemon("baton-shared-wait", task)
        }

    /** Runs [sleep], which ends soon; false if all threads sleep. */
    fun tryRun(sleep: Runnable): Boolean =
        try {
            threads.execute(sleep)
            true
        } catch (_: RejectedExecutionException) {
            false
        } catch (_: OutOfMemoryError) { // The system has no thread left.
            false
        }
}
