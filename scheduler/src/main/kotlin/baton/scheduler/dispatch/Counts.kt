package baton.scheduler.dispatch

import baton.scheduler.DispatcherMetrics
import java.util.concurrent.ThreadLocalRandom
import java.util.concurrent.atomic.DoubleAdder
import java.util.concurrent.atomic.LongAccumulator
import java.util.concurrent.atomic.LongAdder
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds

/**
 * The counters of a dispatcher. Picks are counted exactly; waits are measured for one block in [SAMPLING_INTERVAL],
 * because reading the clock for each block would cost more than the pick.
 */
internal class Counts {
    private class OfLevel {
        val picked = LongAdder()
        val outOfOrder = LongAdder()
        val waits = LongAdder()
        val waited = DoubleAdder()
        val longest = LongAccumulator(::maxOf, 0)
    }

    private class Sampled(val block: Runnable) : Runnable by block {
        val enqueuedAt = System.nanoTime()
    }

    private val levels = Array(RunQueue.LEVELS.size) { OfLevel() }

    fun sampled(block: Runnable): Runnable {
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
            val wait = System.nanoTime() - entry.enqueuedAt
            val counts = levels[level]
            counts.waits.increment()
            counts.waited.add(wait.toDouble())
            counts.longest.accumulate(wait)
            return entry.block
        }

        fun publish() {
            if (picked == 0) return
            val counts = levels[level]
            counts.picked.add(picked.toLong())
            picked = 0
            if (outOfOrder == 0) return
            counts.outOfOrder.add(outOfOrder.toLong())
            outOfOrder = 0
        }
    }

    fun metrics(workers: Int, queued: (level: Int) -> Int): DispatcherMetrics =
        DispatcherMetrics(
            workers,
            levels.mapIndexed { level, counts ->
                val waits = counts.waits.sum()
                DispatcherMetrics.OfLevel(
                    queued = queued(level),
                    picked = counts.picked.sum(),
                    outOfTurn = counts.outOfOrder.sum(),
                    sampledWaits = waits,
                    meanWait = if (waits == 0L) Duration.ZERO else (counts.waited.sum() / waits).toLong().nanoseconds,
                    longestWait = counts.longest.get().nanoseconds,
                )
            },
        )

    companion object {
        /** In blocks; a power of two. */
        private const val SAMPLING_INTERVAL = 64

        fun blockOf(entry: Runnable): Runnable = if (entry is Sampled) entry.block else entry
    }
}
