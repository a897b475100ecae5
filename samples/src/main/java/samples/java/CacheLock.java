package samples.java;

import baton.interop.AsyncReadWriteLock;
import baton.interop.AsyncSemaphore;
import baton.sync.ReadWritePolicy;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import samples.support.Cli;
import samples.support.DiskCache;

/**
 * A cache on disk that sixty callers read while two rewrite it. Without a lock some reads are torn; with a lock that
 * admits ten readers at a time or one writer none is. {@code samples.CacheLock} is the same in Kotlin.
 */
public final class CacheLock {
    private static final int READERS = 60;
    private static final int READS = 3;
    private static final int WRITERS = 2;
    private static final int WRITES = 10;

    private CacheLock() {}

    private static CompletableFuture<Void> load(DiskCache cache) {
        DiskCache.Reading reading = cache.startReading();
        return inTurn(DiskCache.PARTS, part -> reading.readPart()).whenComplete((done, failure) -> reading.close());
    }

    private static CompletableFuture<Void> store(DiskCache cache, int version) {
        DiskCache.Writing writing = cache.startWriting(version);
        return inTurn(DiskCache.PARTS, part -> writing.writePart()).whenComplete((done, failure) -> writing.close());
    }

    /** Runs the parts one after the other. */
    private static CompletableFuture<Void> inTurn(int times, IntFunction<CompletableFuture<Void>> step) {
        CompletableFuture<Void> all = CompletableFuture.completedFuture(null);
        for (int i = 0; i < times; i++) {
            int number = i;
            all = all.thenCompose(done -> step.apply(number));
        }
        return all;
    }

    /** Runs all at the same time. */
    private static void use(
            DiskCache cache, Supplier<CompletableFuture<Void>> load, IntFunction<CompletableFuture<Void>> store) {
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < WRITERS; i++) {
            int first = 1 + i * WRITES;
            all.add(inTurn(WRITES, number -> store.apply(first + number)));
        }
        for (int i = 0; i < READERS; i++) {
            all.add(inTurn(READS, number -> load.get()));
        }
        // Each of them has requested its first part.
        cache.begin();
        CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).join();
    }

    private static boolean withoutLock(PrintStream out) {
        try (DiskCache cache = new DiskCache()) {
            use(cache, () -> load(cache), version -> store(cache, version));
            return cache.report(out, "Without a lock");
        }
    }

    private static boolean withLock(PrintStream out) {
        try (DiskCache cache = new DiskCache()) {
            AsyncReadWriteLock lock = AsyncReadWriteLock.create(ReadWritePolicy.PHASE_FAIR, "cache");
            AsyncSemaphore readers = AsyncSemaphore.create(DiskCache.READERS);
            use(
                    cache,
                    () -> lock.withRead(() -> readers.withPermit(() -> load(cache))),
                    version -> lock.withWrite(() -> store(cache, version)));
            return cache.report(out, "With a read-write lock, ten readers at a time");
        }
    }

    /** Returns the exit code: 0 if reads were torn without the lock and none with it. */
    public static int run(String[] args, PrintStream out, PrintStream err) {
        return Cli.runWithoutOptions(args, err, () -> {
            boolean torn = !withoutLock(out);
            boolean whole = withLock(out);
            return torn && whole;
        });
    }

    public static void main(String[] args) {
        Cli.exit(run(args, System.out, System.err));
    }
}
