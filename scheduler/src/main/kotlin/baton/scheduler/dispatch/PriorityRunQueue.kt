package baton.scheduler.dispatch

import baton.scheduler.DispatcherMetrics
import baton.scheduler.PriorityPolicy
import baton.scheduler.dispatch.Counts.Companion.blockOf
import baton.waiting.boost.Boosts
import baton.waiting.coroutine.Trampoline
import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicBoolean
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
 * `word` holds the mask, a bit for each level (bit 0: CRITICAL), above it the number of gaps (see (2)), and above that the
 * number of workers. A worker is a task of the dispatcher underneath. It carries no block: which one is decided when it
 * runs, so what came last may go first.
 *
 * (1) Who adds to a queue then reads `word`, and changes it unless the level's bit is set and all workers are there:
 *     one compare-and-set for the bit and, if there is room, one more worker.
 * (2) A worker that finds a queue empty clears its bit and opens a gap in one step, then looks again; if something came
 *     in between, it sets the bit again as under (1); it closes the gap in the same step. So whoever skipped (1) because
 *     the bit was set is seen: it had added before that look. And a level that has work has its bit, or there is a gap.
 * (3) A worker leaves by a compare-and-set from a word whose mask holds no bit but that of the queue it has just found
 *     empty, which is cleared as under (2), and, if there is a gap, only after it has found all queues empty. So
 *     mask ≠ 0 means that there is a worker: nothing is lost. And no worker leaves while a block waits that it may have
 *     passed over: such a block is never left to a worker that does not count it.
 * (4) A worker that (2) has started, starts another when it finds more work: those that had left in the gap come back.
 * (5) Every block is polled by one worker: the queues are java.util.concurrent's.
 * (6) With Bounded, a worker asks the queues and not the mask alone which levels have work while there is a gap. So none
 *     is passed over without being counted.
 * (7) A start of a worker runs once, whatever the dispatcher underneath does with it: throw after it has queued the
 *     worker, or run it twice. One compare-and-set decides. A worker may come late and find a later start, which it
 *     serves; the one that comes for that does nothing then.
 *
 * Hence, with Bounded: while a block is the head of level l, at most `parallelism` workers pick, each passes it over
 * bypass[l] times at most (see BoundedBypass), and none of them forgets. So it runs within parallelism × bypass[l] picks.
 *
 * After `quantum` blocks a worker goes to the end of the queue underneath, so that others who use it have their turn.
 * If the dispatcher underneath refuses, the worker goes on where it is; a worker that it refuses to start runs on
 * Dispatchers.Default. So dispatch never throws and no block is dropped.
 */
internal class PriorityRunQueue(
    val under: CoroutineDispatcher,
    override val parallelism: Int,
    val policy: PriorityPolicy,
    private val quantum: Int,
) : RunQueue() {
    @Volatile
    private var word: Long = 0
    private val queues = Array(LEVELS.size) { ConcurrentLinkedQueue<Runnable>() }
    private val counts = Counts()

    /** One that has left: where workers come and go with every block, nothing is allocated for them. */
    private val spare = AtomicReference<Worker?>()
    val lifts = PriorityBoosts(this)

    init {
        Boosts.begin()
    }

    override val root: PriorityRunQueue get() = this

    /** A bit may be stale, and so says only where to look; see invariant 2. */
    override fun hasWorkAbove(level: Int): Boolean {
        val now = word
        if (maskOf(now) and ((1 shl level) - 1) == 0 && !hasGap(now)) return false
        return (0 until level).any { queues[it].any(WorkerSlot::canBegin) }
    }

    override fun enqueue(level: Int, block: Runnable) {
        queues[level].add(counts.sampled(block))
        signal(level, afterGap = false)
    }

    private fun signal(level: Int, afterGap: Boolean, gap: Long = 0) {
        if (show(level, gap)) start(worker(afterGap))
    }

    /** Invariant 1: sets the bit of [level] and closes the [gap], if that is one. Whether one more worker is counted. */
    private fun show(level: Int, gap: Long): Boolean {
        val bit = 1L shl level
        while (true) {
            val now = word
            val more = workersOf(now) < parallelism
            if (gap == 0L && now and bit != 0L && !more) return false
            if (WORD.compareAndSet(this, now, (now or bit) - gap + if (more) ONE_WORKER else 0L)) return more
        }
    }

    private fun worker(afterGap: Boolean): Worker {
        val worker = if (spare.get() == null) null else spare.getAndSet(null)
        return (worker ?: Worker()).also { it.afterGap = afterGap }
    }

    private fun start(worker: Worker) {
        worker.set(true)
        try {
            under.dispatch(EmptyCoroutineContext, worker)
        } catch (_: Throwable) {
            // As kotlinx does for an executor that has been shut down: what is left must run. Invariant 7: the worker may
            // have been queued before this was thrown.
            Dispatchers.Default.dispatch(EmptyCoroutineContext, worker)
        }
    }

    override fun remove(level: Int, block: Runnable): Boolean {
        val queue = queues[level]
        return queue.any { blockOf(it) === block && queue.remove(it) }
    }

    override fun blocks(level: Int): List<Runnable> = queues[level].map(::blockOf)

    override fun metrics(): DispatcherMetrics =
        counts.metrics(workers = workersOf(word)) { level -> queues[level].size }

    /** True from its start until a thread runs it; see invariant 7. */
    private inner class Worker :
        AtomicBoolean(),
        Runnable {
        var afterGap = false
        private val picker = policy.picker()
        private val picks = counts.local()

        override fun run() {
            if (!compareAndSet(true, false)) return
            var ran = 0
            while (true) {
                val block = next() ?: return
                if (afterGap) callAnother()
                try {
                    block.run()
                } catch (e: Throwable) {
                    Trampoline.report(e)
                }
                if (++ran >= quantum && maskOf(word) != 0) {
                    picks.publish()
                    if (goBehind()) return
                    ran = 0
                }
            }
        }

        /** Once this has succeeded another thread may have this worker already: invariant 7. */
        private fun goBehind(): Boolean {
            set(true)
            try {
                if (Behind(this).sendTo(under)) return true
            } catch (_: Throwable) {
                // Refused, or queued all the same.
            }
            return !compareAndSet(true, false)
        }

        /** The block that this worker runs next; null when it has left. */
        private fun next(): Runnable? {
            while (true) {
                val now = word
                // Invariant 6.
                val levels = if (picker.isExact && hasGap(now)) maskOf(now) or levelsWithWork() else maskOf(now)
                if (levels == 0) {
                    if (left(now, bit = 0)) return gone()
                    continue
                }
                val level = picker.next(levels)
                val entry = queues[level].poll()
                when {
                    entry == null -> if (leftOrCleared(level, now)) return gone()
                    entry is WorkerSlot && !entry.begin(::stand) -> {}
                    else -> {
                        picker.served(level, levels)
                        picks.count(level, isForced = level != levels.mostUrgent())
                        return picks.started(entry, level)
                    }
                }
            }
        }

        private fun stand(slot: WorkerSlot) = enqueue(slot.level, slot)

        /** Nothing was waiting when it left, so there is nothing that it has passed over. */
        private fun gone(): Runnable? {
            picker.forget()
            spare.set(this)
            return null
        }

        /** The queue of [level] was empty: invariants 2 and 3. Whether this worker has left. */
        private fun leftOrCleared(level: Int, now: Long): Boolean {
            val bit = 1L shl level
            if (now and MASK == bit) {
                if (!left(now, bit)) return false
                return queues[level].isEmpty().also { if (it) closeGap() } || !show(level, gap = ONE_GAP)
            }
            // Found by asking the queues, and taken by another since.
            if (now and bit == 0L) return false
            if (WORD.compareAndSet(this@PriorityRunQueue, now, now - bit + ONE_GAP)) {
                if (queues[level].isEmpty()) closeGap() else signal(level, afterGap = true, gap = ONE_GAP)
            }
            return false
        }

        /** Invariant 3. Clears [bit], the last one, if there is any, and opens a gap for that. */
        private fun left(now: Long, bit: Long): Boolean {
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
        private fun callAnother() {
            afterGap = false
            val found = levelsWithWork()
            if (found != 0) signal(found.mostUrgent(), afterGap = true)
        }
    }

    /** Those whose queue is not empty, whatever the mask says. */
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
        private const val GAPS = 5
        private const val MASK = (1L shl GAPS) - 1
        private const val WORKERS = 32
        private const val ONE_GAP = 1L shl GAPS
        private const val ONE_WORKER = 1L shl WORKERS

        private fun maskOf(word: Long): Int = (word and MASK).toInt()

        private fun hasGap(word: Long): Boolean = word and (ONE_WORKER - ONE_GAP) != 0L

        private fun workersOf(word: Long): Int = (word ushr WORKERS).toInt()

        private val WORD: VarHandle =
            MethodHandles.lookup().findVarHandle(PriorityRunQueue::class.java, "word", Long::class.javaPrimitiveType)
    }
}
