package samples.support;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A file on disk in four parts, each of which contains its version. Reading or writing the whole file takes four steps,
 * between which other callers run. Readers go forwards and writers backwards, so that without mutual exclusion a reader
 * sees parts of two versions. The disk runs no step before {@link #begin}, so that the first caller cannot finish
 * before the others have come. It counts all accesses.
 */
public final class DiskCache implements AutoCloseable {
    public static final int PARTS = 4;

    /** The maximum number of readers at a time. */
    public static final int READERS = 10;

    private static final int PART_BYTES = 4096;

    private final ExecutorService disk = Executors.newSingleThreadExecutor();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final Path file;
    private final FileChannel channel;

    private final AtomicInteger readers = new AtomicInteger();
    private final AtomicInteger writers = new AtomicInteger();
    private final AtomicInteger mostReaders = new AtomicInteger();
    private final AtomicInteger clashes = new AtomicInteger();
    private final AtomicInteger torn = new AtomicInteger();
    private final AtomicInteger reads = new AtomicInteger();
    private final AtomicInteger writes = new AtomicInteger();

    /** Creates a temporary file, deleted when this is closed. */
    public DiskCache() {
        try {
            file = Files.createTempFile("cache-lock", ".cache");
            channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
            for (int part = 0; part < PARTS; part++) write(part, 0);
        } catch (IOException failure) {
            disk.shutdown();
            throw new UncheckedIOException("cannot write the cache", failure);
        }
        disk.execute(() -> {
            try {
                begun.await();
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        });
    }

    /** Starts to serve requests; call it once all callers have come. */
    public void begin() {
        begun.countDown();
    }

    /** A caller that reads the file, part by part. */
    public final class Reading implements AutoCloseable {
        private final Set<String> versions = new HashSet<>();
        private int next;

        private Reading() {
            mostReaders.accumulateAndGet(readers.incrementAndGet(), Math::max);
            if (writers.get() > 0) clashes.incrementAndGet();
        }

        public CompletableFuture<Void> readPart() {
            int part = next++;
            return CompletableFuture.supplyAsync(() -> read(part), disk).thenAccept(versions::add);
        }

        @Override
        public void close() {
            readers.decrementAndGet();
            reads.incrementAndGet();
            if (versions.size() > 1) torn.incrementAndGet();
        }
    }

    /** A caller that writes a version, part by part. */
    public final class Writing implements AutoCloseable {
        private final int version;
        private int next = PARTS - 1;

        private Writing(int version) {
            this.version = version;
            if (writers.incrementAndGet() > 1 || readers.get() > 0) clashes.incrementAndGet();
        }

        public CompletableFuture<Void> writePart() {
            int part = next--;
            return CompletableFuture.runAsync(() -> write(part, version), disk);
        }

        @Override
        public void close() {
            writers.decrementAndGet();
            writes.incrementAndGet();
        }
    }

    public Reading startReading() {
        return new Reading();
    }

    public Writing startWriting(int version) {
        return new Writing(version);
    }

    private String read(int part) {
        try {
            ByteBuffer bytes = ByteBuffer.allocate(PART_BYTES);
            while (bytes.hasRemaining() && channel.read(bytes, (long) part * PART_BYTES + bytes.position()) >= 0) {
                // Reads to the end of the part.
            }
            return new String(bytes.array(), 0, bytes.position(), StandardCharsets.US_ASCII).strip();
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot read the cache", failure);
        }
    }

    private void write(int part, int version) {
        try {
            byte[] padded =
                    String.format(Locale.ROOT, "%" + PART_BYTES + "d", version).getBytes(StandardCharsets.US_ASCII);
            ByteBuffer bytes = ByteBuffer.wrap(padded);
            while (bytes.hasRemaining()) channel.write(bytes, (long) part * PART_BYTES + bytes.position());
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot write the cache", failure);
        }
    }

    /**
     * Prints the counts. Call it when no access runs any more. Returns whether every read saw one version, and no
     * writer ran beside another caller.
     */
    public boolean report(PrintStream out, String title) {
        boolean whole = torn.get() == 0;
        out.println(title);
        out.println("  " + reads + " reads and " + writes + " writes of " + PARTS + " parts each");
        out.println("  torn reads: " + (whole ? "none" : "some"));
        out.println("  readers at once: " + (mostReaders.get() <= READERS ? mostReaders : "more than " + READERS));
        out.println("  writers beside others: " + (clashes.get() == 0 ? "never" : "yes"));
        out.println();
        return whole && clashes.get() == 0;
    }

    @Override
    public void close() {
        begin();
        disk.shutdown();
        try {
            channel.close();
            Files.deleteIfExists(file);
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot remove the cache", failure);
        }
    }
}
