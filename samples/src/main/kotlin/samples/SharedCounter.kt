package samples

import baton.shared.SharedRegion
import baton.shared.withLock
import java.io.PrintStream
import java.nio.ByteBuffer
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import samples.support.Cli
import samples.support.CounterJob

/**
 * Four processes add 1 to a counter in memory that they share, 200 times each: with a lock, where the sum is right;
 * with one of them killed while it holds the lock, where the next holder is told and repairs the counter; and without a
 * lock, where increments get lost. This program starts itself for each process. `samples.java.SharedCounter` is the
 * same in Java.
 */
class SharedCounter private constructor(region: SharedRegion, private val job: CounterJob) {
    private val mutex = region.mutex(job.counter)

    /** The 8 bytes that the mutex guards. */
    private val sum: ByteBuffer = region.bytes(job.counter, size = Long.SIZE_BYTES)

    /** The number of increments of each process, for the repair. */
    private val added: ByteBuffer = region.bytes("${job.counter}, by process", job.processes * Long.SIZE_BYTES)

    private fun addedBy(process: Int): Long = added.getLong(process * Long.SIZE_BYTES)

    /** Reads, then writes. In between, another process may read the same number. */
    private suspend fun increment() {
        val read = sum.getLong(0)
        delay(1)
        sum.putLong(0, read + 1)
    }

    private suspend fun incrementLocked(done: Int) =
        mutex.withLock(repair = { repair() }) {
            increment()
            job.mayBeKilled(done)
            added.putLong(job.number * Long.SIZE_BYTES, addedBy(job.number) + 1)
        }

    /** A holder has died, perhaps after it had changed the sum and before it had recorded that. */
    private fun repair() {
        val before = sum.getLong(0)
        sum.putLong(0, (0 until job.processes).sumOf { addedBy(it) })
        job.repaired(before, sum.getLong(0))
    }

    private suspend fun count() =
        repeat(job.increments) { done -> if (job.isLocked) incrementLocked(done) else increment() }

    companion object {
        private fun work(job: CounterJob) =
            SharedRegion.open(job.file).use { region ->
                val counter = SharedCounter(region, job)
                job.awaitStart(region.waiting)
                runBlocking { counter.count() }
            }

        /** Returns the exit code: 0 if no increment was lost with a lock, and the death was told once. */
        fun run(args: Array<String>, out: PrintStream, err: PrintStream): Int =
            Cli.runCounter(args, out, err, SharedCounter::class.java)

        @JvmStatic
        fun main(args: Array<String>) =
            if (CounterJob.isIn(args)) CounterJob.run(args, ::work) else Cli.exit(run(args, System.out, System.err))
    }
}
