package baton.scheduler

import java.util.concurrent.ThreadLocalRandom
import java.util.concurrent.atomic.LongAccumulator
import java.util.concurrent.atomic.LongAdder
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds

/** What a dispatcher counts: picks exactly, waits of one block in [SAMPLED]. A clock read for each would cost more than the pick. */
internal class Counts {
    private class OfLevel {
        val picked = LongAdder()
        val forced = LongAdder()
        val waits = LongAdder()
        val waited = LongAdder()
        val longest = LongAccumulator(::maxOf, 0)
    }

    private class Sampled(val block: Runnable) : Runnable by block {
        val since = System.nanoTime()
    }

    private val levels = Array(Line.LEVELS.size) { OfLevel() }

    fun sampled(block: Runnable): Runnable =
        if (ThreadLocalRandom.current().nextInt() and (SAMPLED - 1) != 0 || block is Turn) block else Sampled(block)

    fun local() = Local()

    /** Those of one worker, until it publishes them. */
    inner class Local {
        private val picked = IntArray(Line.LEVELS.size)
        private val forced = IntArray(Line.LEVELS.size)

        fun count(level: Int, isForced: Boolean) {
            picked[level]++
            if (isForced) forced[level]++
        }

        /** The block of [entry], which is about to run. */
        fun started(entry: Runnable, level: Int): Runnable {
            if (entry !is Sampled) return entry
            val wait = System.nanoTime() - entry.since
            val counts = levels[level]
            counts.waits.increment()
            counts.waited.add(wait)
            counts.longest.accumulate(wait)
            return entry.block
        }

        fun publish() {
            for (level in picked.indices) {
                if (picked[level] == 0) continue
                levels[level].picked.add(picked[level].toLong())
                picked[level] = 0
                if (forced[level] == 0) continue
                levels[level].forced.add(forced[level].toLong())
                forced[level] = 0
            }
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
                    overdue = counts.forced.sum(),
                    sampledWaits = waits,
                    meanWait = if (waits == 0L) Duration.ZERO else (counts.waited.sum() / waits).nanoseconds,
                    longestWait = counts.longest.get().nanoseconds,
                )
            },
        )

    companion object {
        private const val SAMPLED = 64

        fun blockOf(entry: Runnable): Runnable = if (entry is Sampled) entry.block else entry
    }
}
