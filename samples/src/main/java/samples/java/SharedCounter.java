package samples.java;

import baton.interop.AsyncSharedRegion;
import baton.interop.AsyncSharedRegion.AsyncSharedMutex;
import baton.shared.SharedLock;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import samples.support.Cli;
import samples.support.CounterJob;

/**
 * Four processes add 1 to a counter in memory that they share, 200 times each: with a lock, where the sum is right; with
 * one of them killed while it holds the lock, where the next holder is told and repairs the counter; and without a lock,
 * where increments get lost. This program starts itself for each process. {@code samples.SharedCounter} is the same in
 * Kotlin.
 */
public final class SharedCounter {
    private final CounterJob job;
    private final AsyncSharedMutex mutex;

    /** The 8 bytes that the mutex guards. */
    private final ByteBuffer sum;

    /** The number of increments of each process, for the repair. */
    private final ByteBuffer added;

    private SharedCounter(AsyncSharedRegion region, CounterJob job) {
        this.job = job;
        this.mutex = region.mutex(job.counter());
        this.sum = region.bytes(job.counter(), Long.BYTES);
        this.added = region.bytes(job.counter() + ", by process", job.processes() * Long.BYTES);
    }

    private long addedBy(int process) {
        return added.getLong(process * Long.BYTES);
    }

    /** Reads, then writes. In between, another process may read the same number. */
    private void increment() throws InterruptedException {
        long read = sum.getLong(0);
        Thread.sleep(1);
        sum.putLong(0, read + 1);
    }

    private void incrementLocked(int done) throws InterruptedException {
        try (SharedLock lock = mutex.lockBlocking()) {
            if (lock.getAbandoned()) {
                repair();
                lock.markConsistent();
            }
            increment();
            job.mayBeKilled(done);
            added.putLong(job.number() * Long.BYTES, addedBy(job.number()) + 1);
        }
    }

    /** A holder has died, perhaps after it had changed the sum and before it had recorded that. */
    private void repair() {
        long before = sum.getLong(0);
        long all = 0;
        for (int process = 0; process < job.processes(); process++) all += addedBy(process);
        sum.putLong(0, all);
        job.repaired(before, all);
    }

    private void count() throws InterruptedException {
        for (int done = 0; done < job.increments(); done++) {
            if (job.isLocked()) incrementLocked(done);
            else increment();
        }
    }

    private static void work(CounterJob job) throws Exception {
        try (AsyncSharedRegion region = AsyncSharedRegion.open(job.file())) {
            SharedCounter counter = new SharedCounter(region, job);
            job.awaitStart(region.waiting());
            counter.count();
        }
    }

    /** Returns the exit code: 0 if no increment was lost with a lock, and the death was told once. */
    public static int run(String[] args, PrintStream out, PrintStream err) {
        return Cli.runCounter(args, out, err, SharedCounter.class);
    }

    public static void main(String[] args) {
        if (CounterJob.isIn(args)) CounterJob.run(args, SharedCounter::work);
        else Cli.exit(run(args, System.out, System.err));
    }
}
