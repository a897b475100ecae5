package baton.scheduler.dispatch

import baton.scheduler.DispatcherMetrics
import java.util.concurrent.ThreadLocalRandom
import java.util.concurrent.atomic.DoubleAdder
import java.util.concurrent.atomic.LongAccumulator
import java.util.concurrent.atomic.LongAdder
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds

/**
 * What a dispatcher counts: picks exactly, waits of one block in [SAMPLED]. A clock read for each would cost more than
 * the pick.
 */
internal class Counts {
    private class OfLevel {
        val picked = LongAdder()
        val forced = LongAdder()
        val waits = LongAdder()
        val waited = DoubleAdder()
        val longest = LongAccumulator(::maxOf, 0)
    }

    private class Sampled(val block: Runnable) : Runnable by block {
        val since = System.nanoTime()
    }

    private val levels = Array(RunQueue.LEVELS.size) { OfLevel() }

    fun sampled(block: Runnable): Runnable {
        val isSampled = ThreadLocalRandom.current().nextInt() and (SAMPLED - 1) == 0
        return if (isSampled && block !is WorkerSlot) Sampled(block) else block
    }

    fun local() = Local()

    /** Those of one worker, until it publishes them: how many picks in a row were of one level. */
    inner class Local {
        private var level = 0
        private var picked = 0
        private var forced = 0

        fun count(level: Int, isForced: Boolean) {
            if (level != this.level) {
                publish()
                this.level = level
            }
            picked++
            if (isForced) forced++
        }

        /** The block of [entry], which is about to run. */
        fun started(entry: Runnable, level: Int): Runnable {
            if (entry !is Sampled) return entry
            val wait = System.nanoTime() - entry.since
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
            if (forced == 0) return
            counts.forced.add(forced.toLong())
            forced = 0
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
                    outOfTurn = counts.forced.sum(),
                    sampledWaits = waits,
                    meanWait = if (waits == 0L) Duration.ZERO else (counts.waited.sum() / waits).toLong().nanoseconds,
                    longestWait = counts.longest.get().nanoseconds,
                )
            },
        )

    companion object {
        private const val SAMPLED = 64

        fun blockOf(entry: Runnable): Runnable = if (entry is Sampled) entry.block else entry
    }
}
