package baton.scheduler.dispatch

import baton.scheduler.DispatcherMetrics
import java.util.concurrent.ThreadLocalRandom
import java.util.concurrent.atomic.AtomicReferenceArray
import java.util.concurrent.atomic.LongAdder
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds

/**
 * The counters of a dispatcher. Picks are counted exactly; waits are measured for one block in [SAMPLING_INTERVAL],
 * because reading the clock for each block would cost more than the pick.
 *
 * The counters of a level are created for its first block, by the caller that dispatches it: that caller can be told if
 * memory has run out, a worker has no caller. Workers add to them at the same time: picks by adders, which spread under
 * contention. Waits are rare enough for a lock.
 */
internal class Counts {
    private class OfLevel {
        val picked = LongAdder()
        val outOfOrder = LongAdder()

        // Guarded by this object, so that the numbers of a snapshot belong together.
        private var waits = 0L
        private var waited = 0.0
        private var longest = 0L

        @Synchronized
        fun addWait(nanos: Long) {
            waits++
            waited += nanos
            longest = maxOf(longest, nanos)
        }

        @Synchronized
        fun metrics(queued: Int): DispatcherMetrics.OfLevel =
            DispatcherMetrics.OfLevel(
                queued,
                picked.sum(),
                outOfTurn = outOfOrder.sum(),
                sampledWaits = waits,
                meanWait = if (waits == 0L) Duration.ZERO else (waited / waits).toLong().nanoseconds,
                longestWait = longest.nanoseconds,
            )
    }

    private class Sampled(val block: Runnable) : Runnable by block {
        val enqueuedAt = System.nanoTime()
    }

    private val levels = AtomicReferenceArray<OfLevel?>(RunQueue.LEVELS.size)

    private fun ofLevel(level: Int): OfLevel = levels.get(level) ?: newOfLevel(level)

    private fun newOfLevel(level: Int): OfLevel {
        val new = OfLevel()
        return if (levels.compareAndSet(level, null, new)) new else checkNotNull(levels.get(level))
    }

    /** The entry to enqueue for [block] at [level]. */
    fun sampled(level: Int, block: Runnable): Runnable {
        ofLevel(level)
        val isSampled = ThreadLocalRandom.current().nextInt() and (SAMPLING_INTERVAL - 1) == 0
        return if (isSampled && block !is WorkerSlot) Sampled(block) else block
    }

    fun local() = Local()

    /** One worker's count of consecutive picks of one level, until it publishes them. */
    inner class Local {
        private var level = 0
        private var picked = 0
        private var outOfOrder = 0

        fun count(level: Int, isOutOfOrder: Boolean) {
            if (level != this.level) {
                publish()
                this.level = level
            }
            picked++
            if (isOutOfOrder) outOfOrder++
        }

        /** Records the wait of [entry] if it is sampled, and returns its block, which is about to run. */
        fun started(entry: Runnable, level: Int): Runnable {
            if (entry !is Sampled) return entry
            ofLevel(level).addWait(System.nanoTime() - entry.enqueuedAt)
            return entry.block
        }

        fun publish() {
            if (picked == 0) return
            val counts = ofLevel(level)
            counts.picked.add(picked.toLong())
            picked = 0
            if (outOfOrder == 0) return
            counts.outOfOrder.add(outOfOrder.toLong())
            outOfOrder = 0
        }
    }

    fun metrics(workers: Int, queued: (level: Int) -> Int): DispatcherMetrics =
        DispatcherMetrics(workers, RunQueue.LEVELS.indices.map { (levels.get(it) ?: NONE).metrics(queued(it)) })

    companion object {
        /** In blocks; a power of two. */
        private const val SAMPLING_INTERVAL = 64

        /** Of a level that has had no pick. */
        private val NONE = OfLevel()

        fun blockOf(entry: Runnable): Runnable = if (entry is Sampled) entry.block else entry
    }
}
