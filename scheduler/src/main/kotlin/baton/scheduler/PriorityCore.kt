package baton.scheduler

import baton.scheduler.Counts.Companion.blockOf
import baton.waiting.Boosts
import baton.waiting.FlatStack
import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicReference
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers

/*
 * How it works
 *
 *   dispatch ─▶ queue of its level ─▶ mask ─▶ a worker, if fewer than `parallelism` are there
 *   worker: pick a level by the mask, poll its queue, run the block, and so on; leave when there is nothing
 *
 * `word` holds the mask, a bit for each level (bit 0: CRITICAL), and above it the number of workers. A worker is a task
 * of the dispatcher underneath. It carries no block: which one is decided when it runs, so what came last may go first.
 *
 * (1) Who adds to a queue then reads `word`, and changes it unless the level's bit is set and all workers are there:
 *     one compare-and-set for the bit and, if there is room, one more worker.
 * (2) A worker that finds a queue empty clears its bit and then looks again; if something came in between, it sets the
 *     bit again as under (1). So whoever skipped (1) because the bit was set is seen: it had added before that look.
 * (3) A worker leaves by a compare-and-set from a word whose mask is zero, and only after it has found all queues
 *     empty. So mask ≠ 0 means that there is a worker: nothing is lost. And no worker leaves while a block waits, be
 *     its bit cleared for a moment by (2) or not: a block that has been passed over is never left to a worker that does
 *     not count it.
 * (4) A worker that (2) has started, starts another when it finds more work: those that had left in the gap come back.
 * (5) Every block is polled by one worker: the queues are java.util.concurrent's.
 *
 * (6) With Bounded, a worker that is not alone asks the queues and not the mask which levels have work: so none is passed
 *     over without being counted while its bit is cleared for a moment by (2).
 *
 * Hence, with Bounded: while a block is the head of level l, at most `parallelism` workers pick, each passes it over
 * bypass[l] times at most (see Turns), and none of them forgets. So it runs within parallelism × bypass[l] picks.
 *
 * After `quantum` blocks a worker goes to the end of the queue underneath, so that others who use it have their turn.
 * If the dispatcher underneath refuses, the worker goes on where it is; a worker that it refuses to start runs on
 * Dispatchers.Default. So dispatch never throws and no block is dropped.
 */
internal class PriorityCore(
    val under: CoroutineDispatcher,
    override val parallelism: Int,
    val policy: PriorityPolicy,
    private val quantum: Int,
) : Line() {
    @Volatile
    private var word: Int = 0
    private val workerLimit = minOf(parallelism, MAX_WORKERS)
    private val queues = Array(LEVELS.size) { ConcurrentLinkedQueue<Runnable>() }
    private val counts = Counts()

    /** One that has left: where workers come and go with every block, nothing is allocated for them. */
    private val spare = AtomicReference<Worker?>()
    val lifts = Lifts(this)

    init {
        Boosts.begin()
    }

    override val root: PriorityCore get() = this

    override val mask: Int get() = word and MASK

    override fun enqueue(level: Int, block: Runnable) {
        queues[level].add(counts.sampled(block))
        signal(level, afterGap = false)
    }

    /** Invariant 1. */
    private fun signal(level: Int, afterGap: Boolean) {
        val bit = 1 shl level
        while (true) {
            val now = word
            val more = now ushr WORKERS < workerLimit
            if (now and bit != 0 && !more) return
            if (WORD.compareAndSet(this, now, (now or bit) + if (more) ONE_WORKER else 0)) {
                if (more) start(worker(afterGap))
                return
            }
        }
    }

    private fun worker(afterGap: Boolean): Worker {
        val worker = if (spare.get() == null) null else spare.getAndSet(null)
        return (worker ?: Worker()).also { it.afterGap = afterGap }
    }

    private fun start(worker: Worker) {
        try {
            under.dispatch(EmptyCoroutineContext, worker)
        } catch (_: Throwable) {
            // As kotlinx does for an executor that has been shut down: somebody must run what is left.
            Dispatchers.Default.dispatch(EmptyCoroutineContext, worker)
        }
    }

    override fun remove(level: Int, block: Runnable): Boolean {
        val queue = queues[level]
        return queue.any { blockOf(it) === block && queue.remove(it) }
    }

    override fun blocks(level: Int): List<Runnable> = queues[level].map(::blockOf)

    override fun sweep() {
        for (queue in queues) queue.removeIf { it is Turn && it.isOver }
    }

    override fun metrics(): DispatcherMetrics =
        counts.metrics(workers = word ushr WORKERS) { level -> queues[level].size }

    private inner class Worker : Runnable {
        var afterGap = false
        private val picker = policy.picker()
        private val picks = counts.local()

        override fun run() {
            var ran = 0
            while (true) {
                val block = next() ?: return
                if (afterGap) callAnother()
                try {
                    block.run()
                } catch (e: Throwable) {
                    FlatStack.report(e)
                }
                if (++ran >= quantum && mask != 0) {
                    picks.publish()
                    if (goBehind()) return
                    ran = 0
                }
            }
        }

        /** Once this has succeeded another thread may have this worker already. */
        private fun goBehind(): Boolean =
            try {
                Behind(this).sendTo(under)
            } catch (_: Throwable) {
                false
            }

        /** The block that this worker runs next; null when it has left. */
        private fun next(): Runnable? {
            while (true) {
                val now = word
                val mask = now and MASK
                if (mask == 0) {
                    val found = firstWithWork()
                    if (found >= 0) {
                        WORD.compareAndSet(this@PriorityCore, now, now or (1 shl found))
                        continue
                    }
                    picks.publish()
                    if (WORD.compareAndSet(this@PriorityCore, now, now - ONE_WORKER)) return gone()
                    continue
                }
                val levels = if (picker.isExact && now ushr WORKERS > 1) mask or levelsWithWork() else mask
                val level = picker.next(levels)
                val queue = queues[level]
                val entry = queue.poll()
                when {
                    entry == null -> if (leftOrCleared(level, now)) return gone()
                    entry is Turn && entry.isOver -> {}
                    else -> {
                        picker.served(level, levels)
                        picks.count(level, isForced = level != levels.mostUrgent())
                        return picks.started(entry, level)
                    }
                }
            }
        }

        /** Nothing was waiting when it left, so there is nothing that it has passed over. */
        private fun gone(): Runnable? {
            picker.forget()
            spare.set(this)
            return null
        }

        /**
         * The queue of [level] was empty. Clears its bit, and if it was the last one leaves in the same step.
         *
         * @return whether it has left
         */
        private fun leftOrCleared(level: Int, now: Int): Boolean {
            val bit = 1 shl level
            // Only another worker can have cleared the bit of a level that has work.
            if (now and MASK != bit || (now ushr WORKERS > 1 && firstWithWork() >= 0)) {
                clear(bit)
                if (!queues[level].isEmpty()) signal(level, afterGap = true)
                return false
            }
            picks.publish()
            if (!WORD.compareAndSet(this@PriorityCore, now, now - bit - ONE_WORKER)) return false
            return queues[level].isEmpty() || !comesBack(bit)
        }

        /** Something came while it left; somebody had skipped the signal. */
        private fun comesBack(bit: Int): Boolean {
            while (true) {
                val now = word
                val more = now ushr WORKERS < workerLimit
                if (!more && now and bit != 0) return false
                if (WORD.compareAndSet(this@PriorityCore, now, (now or bit) + if (more) ONE_WORKER else 0)) return more
            }
        }

        private fun clear(bit: Int) {
            WORD.getAndBitwiseAnd(this@PriorityCore, bit.inv())
        }

        /** Invariant 4. */
        private fun callAnother() {
            afterGap = false
            val found = firstWithWork()
            if (found >= 0) signal(found, afterGap = true)
        }
    }

    /** The most urgent level whose queue is not empty, whatever the mask says; -1 if there is none. */
    private fun firstWithWork(): Int = queues.indexOfFirst { !it.isEmpty() }

    /** Also those whose bit is cleared for a moment. */
    private fun levelsWithWork(): Int {
        var found = 0
        for (level in queues.indices) if (!queues[level].isEmpty()) found = found or (1 shl level)
        return found
    }

    /**
     * A worker on its way behind others. Where the dispatcher underneath runs it at once (a pool whose callers run what
     * is too much for it), it does nothing and says so: else the stack would grow with every quantum.
     */
    private class Behind(private val worker: Runnable) : Runnable {
        private val sender = Thread.currentThread()
        private var isSent = false
        private var isRefused = false

        /** Whether it was taken. */
        fun sendTo(under: CoroutineDispatcher): Boolean {
            under.dispatch(EmptyCoroutineContext, this)
            isSent = true
            return !isRefused
        }

        override fun run() {
            // What the fields say concerns the sender alone.
            if (Thread.currentThread() === sender && !isSent) isRefused = true else worker.run()
        }
    }

    private companion object {
        private const val WORKERS = 5
        private const val MASK = (1 shl WORKERS) - 1
        private const val ONE_WORKER = 1 shl WORKERS
        private const val MAX_WORKERS = Int.MAX_VALUE ushr WORKERS

        private val WORD: VarHandle =
            MethodHandles.lookup().findVarHandle(PriorityCore::class.java, "word", Int::class.javaPrimitiveType)
    }
}
