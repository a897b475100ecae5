package baton.scheduler.dispatch

import baton.scheduler.DispatcherMetrics
import baton.scheduler.PriorityPolicy
import baton.waiting.holders.Boosts
import baton.waiting.threads.SeldomReport
import baton.waiting.threads.Trampoline
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job

/*
 * How it works
 *
 *   dispatch ─▶ queue of its level ─▶ one more worker, if there are fewer than `parallelism`
 *   worker: repeat: take the block that is next, run it; leave when no block waits
 *
 * A worker is a task of the underlying dispatcher. It carries no block: it selects the block when it runs, so a block
 * that was dispatched last may run first.
 *
 * (1) A step adds a block and counts one more worker if there are fewer than `parallelism`; another one takes a block,
 *     or finds none and counts its worker out. So while blocks wait, there is a worker for each of them or all
 *     `parallelism` workers, and no block is lost. And a step takes each block once.
 * (2) The selector records each selected block under the lock, with the levels that have work at that time. So, with
 *     Bounded, the head of level l runs after at most bound(l) picks of other blocks.
 * (3) A start of a worker runs once, even if the underlying dispatcher throws after it has queued the worker, or runs
 *     it twice. One compare-and-set decides. A late run of an earlier start may use up a later start of the same
 *     worker; the run that was dispatched for the later start then does nothing.
 *
 * After `quantum` blocks a worker dispatches itself again, to the tail of the underlying dispatcher's queue, so that
 * other users of that dispatcher make progress. If the underlying dispatcher refuses that, the worker continues on its
 * thread. A worker whose start it refuses runs on Dispatchers.Default, or, over an executor, where kotlinx sends it, on
 * Dispatchers.IO. So dispatch never throws, and no block is dropped. The refusal is reported, once a minute at most.
 */
internal class PriorityRunQueue(
    val underlying: CoroutineDispatcher,
    override val parallelism: Int,
    val policy: PriorityPolicy,
    private val quantum: Int,
) : LockedRunQueue(policy), CoroutineContext.Element {
    private val refusals = SeldomReport()
    private var workers = 0

    /** A retired worker kept for reuse, so that starting a worker for each block allocates nothing. */
    private var retired: Worker? = null
    val boosts = PriorityBoosts(this)

    init {
        Boosts.begin()
    }

    override val root: PriorityRunQueue
        get() = this

    override fun enqueue(level: Int, block: Runnable) {
        val entry = entryOf(block)
        val worker = locked {
            // An allocation may fail, so each one comes before the state changes.
            val more = if (workers < parallelism) retired ?: Worker() else null
            add(level, entry)
            if (more != null) {
                retired = null
                workers++
            }
            more
        }
        if (worker != null) start(worker)
    }

    private fun start(worker: Worker) {
        worker.set(true)
        try {
            underlying.dispatch(this, worker)
        } catch (e: Throwable) {
            // The remaining blocks must run: kotlinx does likewise for an executor that was shut down. Invariant 3: the
            // dispatcher may have queued the worker before it threw.
            try {
                Dispatchers.Default.dispatch(EmptyCoroutineContext, worker)
            } catch (_: Throwable) {
                // It lacks a thread, but has queued the worker. The caller must not take its block for refused.
            }
            reportRefusal(e)
        }
    }

    override val key: CoroutineContext.Key<*>
        get() = KEY

    /**
     * This queue is the context of its workers. A dispatcher whose executor rejects a worker cancels the job in its
     * context, and does nothing else that shows. So a job is made when it is asked for.
     */
    override fun <E : CoroutineContext.Element> get(key: CoroutineContext.Key<E>): E? {
        if (key !== Job) return null
        val job = Job()
        job.invokeOnCompletion { reportRefusal(it?.cause ?: it) }
        @Suppress("UNCHECKED_CAST") // by the key
        return job as E
    }

    /** Without the job, too: a dispatcher between may pass on its context without the job. */
    override fun minusKey(key: CoroutineContext.Key<*>): CoroutineContext =
        if (key === Job || key === KEY) EmptyCoroutineContext else this

    /** Never throws: the worker is started elsewhere, or goes on. */
    private fun reportRefusal(e: Throwable?) {
        try {
            refusals.report(REPORT_MILLIS) {
                val message =
                    "$underlying refuses workers of a PriorityDispatcher, whose blocks run elsewhere meanwhile"
                RejectedExecutionException(message, e)
            }
        } catch (_: OutOfMemoryError) {
            // There is no memory for the report.
        }
    }

    override fun metrics(): DispatcherMetrics = locked { metrics(workers) }

    /** True from its start until a thread begins to run it; see invariant 3. */
    private inner class Worker : AtomicBoolean(), Runnable {
        override fun run() {
            if (!compareAndSet(true, false)) return
            var ran = 0
            while (true) {
                try {
                    val block = next() ?: return
                    block.run()
                } catch (e: Throwable) {
                    // Also if it lacks memory or stack to take a block: it is counted, so the others depend on it.
                    Trampoline.report(e)
                }
                if (++ran >= quantum && seemsToHaveWork()) {
                    if (requeue()) return
                    ran = 0
                }
            }
        }

        /** Returns whether the calling thread must stop running this worker: another thread may run it already. */
        private fun requeue(): Boolean {
            set(true)
            try {
                if (RequeuedWorker(this).dispatchTo(this@PriorityRunQueue)) return true
            } catch (e: Throwable) {
                // The dispatcher has refused the worker, or has queued it before it threw: invariant 3 decides.
                reportRefusal(e)
            }
            return !compareAndSet(true, false)
        }

        /** Returns the block that this worker runs next, or null if the worker has left. */
        private fun next(): Runnable? {
            val block = locked { pick() ?: leave() }
            if (block is WorkerSlot) enqueueMissingSlot(block)
            return block
        }

        /** Also if that fails, [slot] has begun and must run. */
        private fun enqueueMissingSlot(slot: WorkerSlot) {
            val missing = slot.takeMissingSlot() ?: return
            try {
                missing.enqueue(this@PriorityRunQueue)
            } catch (e: Throwable) {
                Trampoline.report(e)
            }
        }

        private fun leave(): Runnable? {
            workers--
            retired = this
            return null
        }
    }

    /**
     * A worker that dispatches itself again. If the underlying dispatcher runs it in place, as a pool with a
     * `CallerRunsPolicy` does, it does nothing and reports that: otherwise the stack would grow with every quantum.
     */
    private class RequeuedWorker(private val worker: Runnable) : Runnable {
        private val sender = Thread.currentThread()
        private var isDispatched = false
        private var isRefused = false

        /** Returns whether the dispatcher has queued this. */
        fun dispatchTo(queue: PriorityRunQueue): Boolean {
            queue.underlying.dispatch(queue, this)
            isDispatched = true
            return !isRefused
        }

        override fun run() {
            // Only the sender reads and writes the fields.
            if (Thread.currentThread() === sender && !isDispatched) isRefused = true else worker.run()
        }
    }

    private companion object {
        private const val REPORT_MILLIS = 60_000
        private val KEY = object : CoroutineContext.Key<PriorityRunQueue> {}
    }
}
