package baton.scheduler.dispatch

import baton.scheduler.DispatcherMetrics
import baton.scheduler.PriorityPolicy
import baton.scheduler.dispatch.Counts.Companion.blockOf
import baton.waiting.boost.Boosts
import baton.waiting.threads.SeldomReport
import baton.waiting.threads.Trampoline
import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle
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
 *   dispatch ─▶ queue of its level ─▶ mask ─▶ one more worker, if there are fewer than `parallelism`
 *   worker: repeat: select a level by the mask, poll its queue, run the block; leave when all queues are empty
 *
 *   bits of `word`   0-4     mask: a bit for each level that has blocks (bit 0: CRITICAL)
 *                    5-31    number of gaps: see (2)
 *                    32-63   number of workers
 *
 * A worker is a task of the underlying dispatcher. It carries no block: it selects the block when it runs, so a block
 * that was dispatched last may run first.
 *
 * (1) A thread that adds a block to a queue then reads `word`. Unless the level's bit is set and there are
 *     `parallelism` workers, it changes `word` by one compare-and-set: it sets the bit and, if there are fewer workers,
 *     counts one more.
 * (2) A worker that finds a queue empty clears the level's bit and opens a gap in one step, then reads the queue again.
 *     If a block was added meanwhile, it sets the bit again as under (1). It closes the gap in the same step. So this
 *     second read finds the block of any thread that skipped (1) because the bit was set: the thread had added it
 *     before. And while a level has blocks, its bit is set or there is a gap.
 * (3) A worker leaves by a compare-and-set on `word`. The mask then contains no bit, or only that of the queue which
 *     the worker has just found empty, which is cleared as under (2). If there is a gap, the worker leaves only after
 *     it has found all queues empty. So mask ≠ 0 implies a worker, and no block is lost. And no worker leaves while a
 *     block waits that it may have passed over: a worker that has not counted these passes never takes over such a
 *     block.
 * (4) A worker that was started under (2) starts another worker when it finds more blocks: this replaces the workers
 *     that have left during the gap.
 * (5) Exactly one worker polls each block: the queues are java.util.concurrent's.
 * (6) With Bounded, while there is a gap, a worker reads the queues, and not only the mask, to find the levels that
 *     have blocks. So it counts every level that it passes over.
 * (7) A start of a worker runs once, even if the underlying dispatcher throws after it has queued the worker, or runs
 *     it twice. One compare-and-set decides. A late run of an earlier start may use up a later start of the same
 *     worker; the run that was dispatched for the later start then does nothing.
 *
 * Hence, with Bounded: while a block is the head of level l, at most `parallelism` workers pick, each passes it over at
 * most bypass[l] times (see BoundedBypass), and none resets its count. So the block runs within parallelism × bypass[l]
 * picks.
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
) : RunQueue(), CoroutineContext.Element {
    @Volatile private var word: Long = 0
    private val refusals = SeldomReport()
    private val queues = LevelQueues()
    private val counts = Counts()

    /** A retired worker kept for reuse, so that starting a worker for each block allocates nothing. */
    @Volatile private var retired: Worker? = null
    val boosts = PriorityBoosts(this)

    init {
        Boosts.begin()
    }

    override val root: PriorityRunQueue
        get() = this

    /** A bit of the mask may be stale, so this reads the queues, too; see invariant 2. */
    override fun hasWorkAbove(level: Int): Boolean {
        val now = word
        if (maskOf(now) and ((1 shl level) - 1) == 0 && !hasGap(now)) return false
        return (0 until level).any { queues.blocks(it).any(WorkerSlot::canBegin) }
    }

    override fun enqueue(level: Int, block: Runnable) {
        queues.add(level, counts.sampled(level, block))
        signal(level, afterGap = false)
    }

    private fun signal(level: Int, afterGap: Boolean, gap: Long = 0) {
        if (publishWork(level, gap)) start(newWorker(afterGap))
    }

    /**
     * Invariant 1: sets the bit of [level] and closes a gap if [gap] is [ONE_GAP]. Returns whether it has counted one
     * more worker, which the caller then starts or is itself.
     */
    private fun publishWork(level: Int, gap: Long): Boolean {
        val bit = 1L shl level
        while (true) {
            val now = word
            val more = workersOf(now) < parallelism
            if (gap == 0L && now and bit != 0L && !more) return false
            if (WORD.compareAndSet(this, now, (now or bit) - gap + if (more) ONE_WORKER else 0L)) return more
        }
    }

    private fun newWorker(afterGap: Boolean): Worker {
        val worker = if (retired == null) null else RETIRED.getAndSet(this, null as Worker?) as Worker?
        return (worker ?: Worker()).also { it.afterGap = afterGap }
    }

    private fun start(worker: Worker) {
        worker.set(true)
        try {
            underlying.dispatch(this, worker)
        } catch (e: Throwable) {
            // The remaining blocks must run: kotlinx does likewise for an executor that was shut down. Invariant 7: the
            // dispatcher may have queued the worker before it threw.
            reportRefusal(e)
            try {
                Dispatchers.Default.dispatch(EmptyCoroutineContext, worker)
            } catch (_: Throwable) {
                // It lacks a thread, but has queued the worker. The caller must not take its block for refused.
            }
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

    private fun reportRefusal(e: Throwable?) =
        refusals.report(REPORT_MILLIS) {
            val message = "$underlying refuses workers of a PriorityDispatcher, whose blocks run elsewhere meanwhile"
            RejectedExecutionException(message, e)
        }

    override fun remove(level: Int, block: Runnable): Boolean =
        queues.blocks(level).any { blockOf(it) === block && queues.remove(level, it) }

    override fun blocks(level: Int): List<Runnable> = queues.blocks(level).map(::blockOf)

    override fun metrics(): DispatcherMetrics =
        counts.metrics(workers = workersOf(word)) { level -> queues.blocks(level).size }

    /** True from its start until a thread begins to run it; see invariant 7. */
    private inner class Worker : AtomicBoolean(), Runnable {
        var afterGap = false
        private val selector = policy.newSelector()
        private val picks = counts.local()

        override fun run() {
            if (!compareAndSet(true, false)) return
            var ran = 0
            while (true) {
                val block = next() ?: return
                if (afterGap) startAnotherWorker()
                try {
                    block.run()
                } catch (e: Throwable) {
                    Trampoline.report(e)
                }
                if (++ran >= quantum && maskOf(word) != 0) {
                    picks.publish()
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
                // The dispatcher has refused the worker, or has queued it before it threw: invariant 7 decides.
                reportRefusal(e)
            }
            return !compareAndSet(true, false)
        }

        /** Returns the block that this worker runs next, or null if the worker has left. */
        private fun next(): Runnable? {
            while (true) {
                val now = word
                val mask = maskOf(now)
                // Invariant 6.
                val levels = if (selector.needsExactMask && hasGap(now)) mask or levelsWithWork() else mask
                if (levels == 0) {
                    if (tryLeave(now, bit = 0)) return retire()
                    continue
                }
                val level = selector.select(levels)
                val entry = queues.poll(level)
                when {
                    entry == null -> if (leaveOrClearBit(level, now)) return retire()
                    entry is WorkerSlot && !entry.begin(::enqueueSlot) -> {}
                    else -> {
                        selector.recordSelected(level, levels)
                        picks.count(level, isOutOfOrder = level != levels.mostUrgent())
                        return picks.started(entry, level)
                    }
                }
            }
        }

        private fun enqueueSlot(slot: WorkerSlot) = enqueue(slot.level, slot)

        /** No block was waiting when this worker left, so it has passed none over. */
        private fun retire(): Runnable? {
            selector.reset()
            retired = this
            return null
        }

        /** The queue of [level] was empty: invariants 2 and 3. Returns whether this worker has left. */
        private fun leaveOrClearBit(level: Int, now: Long): Boolean {
            val bit = 1L shl level
            if (now and MASK == bit) {
                if (!tryLeave(now, bit)) return false
                return queues.isEmpty(level).also { if (it) closeGap() } || !publishWork(level, gap = ONE_GAP)
            }
            // This worker has found the level by reading the queues, and another worker has polled the block since.
            if (now and bit == 0L) return false
            if (WORD.compareAndSet(this@PriorityRunQueue, now, now - bit + ONE_GAP)) {
                if (queues.isEmpty(level)) closeGap() else signal(level, afterGap = true, gap = ONE_GAP)
            }
            return false
        }

        /** Invariant 3. If [bit] is not 0, it is the only bit of the mask: clears it and opens a gap. */
        private fun tryLeave(now: Long, bit: Long): Boolean {
            if (hasGap(now)) {
                val found = levelsWithWork()
                if (found != 0) {
                    signal(found.mostUrgent(), afterGap = true)
                    return false
                }
            }
            picks.publish()
            val gap = if (bit == 0L) 0L else ONE_GAP
            return WORD.compareAndSet(this@PriorityRunQueue, now, now - bit + gap - ONE_WORKER)
        }

        private fun closeGap() {
            WORD.getAndAdd(this@PriorityRunQueue, -ONE_GAP)
        }

        /** Invariant 4. */
        private fun startAnotherWorker() {
            afterGap = false
            val found = levelsWithWork()
            if (found != 0) signal(found.mostUrgent(), afterGap = true)
        }
    }

    /** A mask of the levels whose queue is not empty. */
    private fun levelsWithWork(): Int {
        var found = 0
        for (level in LEVELS.indices) if (!queues.isEmpty(level)) found = found or (1 shl level)
        return found
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
        private const val GAP_SHIFT = 5
        private const val MASK = (1L shl GAP_SHIFT) - 1
        private const val WORKER_SHIFT = 32
        private const val ONE_GAP = 1L shl GAP_SHIFT
        private const val ONE_WORKER = 1L shl WORKER_SHIFT

        private fun maskOf(word: Long): Int = (word and MASK).toInt()

        private fun hasGap(word: Long): Boolean = word and (ONE_WORKER - ONE_GAP) != 0L

        private fun workersOf(word: Long): Int = (word ushr WORKER_SHIFT).toInt()

        private val KEY = object : CoroutineContext.Key<PriorityRunQueue> {}

        private val LOOKUP = MethodHandles.lookup()
        private val WORD: VarHandle = LOOKUP.findVarHandle(PriorityRunQueue::class.java, "word", Long::class.java)
        private val RETIRED: VarHandle =
            LOOKUP.findVarHandle(PriorityRunQueue::class.java, "retired", Worker::class.java)
    }
}
