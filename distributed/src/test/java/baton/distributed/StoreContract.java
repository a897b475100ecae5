package baton.distributed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The promises of a store on which a cluster relies. */
public abstract class StoreContract {
    private static final StoredDocument FIRST = new StoredDocument(7, "{\"a\":\"\u00e9\"}");
    private static final StoredDocument SECOND = new StoredDocument(8, "{}");

    private CoordinationStore store;

    /** A store without documents, or another view of the one that was made last. */
    protected abstract CoordinationStore create(boolean isFresh);

    @BeforeEach
    void open() {
        store = create(true);
    }

    @AfterEach
    void close() {
        store.close();
    }

    protected static <T> T await(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get(120, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void missingDocument_isEmpty() {
        assertEquals(Optional.empty(), await(store.read("k")));
        assertFalse(await(store.delete("k", 1)));
    }

    @Test
    void documentWithTheExpectedVersion_isWritten() {
        assertTrue(await(store.compareAndSet("k", 0, FIRST, List.of())).isStored());
        assertEquals(Optional.of(FIRST), await(store.read("k")));
        assertTrue(await(store.compareAndSet("k", 7, SECOND, List.of())).isStored());
        assertEquals(Optional.of(SECOND), await(store.read("k")));
        assertEquals(Optional.empty(), await(store.read("K")));
    }

    @Test
    void documentWithAnotherVersion_isReturned() {
        assertEquals(CasAnswer.conflict(Optional.empty()), await(store.compareAndSet("k", 7, SECOND, List.of())));
        await(store.compareAndSet("k", 0, FIRST, List.of()));
        assertEquals(CasAnswer.conflict(Optional.of(FIRST)), await(store.compareAndSet("k", 0, SECOND, List.of())));
        assertEquals(CasAnswer.conflict(Optional.of(FIRST)), await(store.compareAndSet("k", 6, SECOND, List.of())));
        assertEquals(Optional.of(FIRST), await(store.read("k")));
    }

    @Test
    void documentWithTheExpectedVersion_isDeleted() {
        await(store.compareAndSet("k", 0, FIRST, List.of()));
        assertFalse(await(store.delete("k", 6)));
        assertTrue(await(store.delete("k", 7)));
        assertEquals(Optional.empty(), await(store.read("k")));
        assertTrue(await(store.compareAndSet("k", 0, SECOND, List.of())).isStored());
    }

    @Test
    void longestDocument_isKept() {
        StoredDocument longest = new StoredDocument(1, "x".repeat(StoredDocument.MAX_LENGTH));
        await(store.compareAndSet("k", 0, longest, List.of()));
        assertEquals(Optional.of(longest), await(store.read("k")));
    }

    @Test
    void versionThatDoesNotGrow_isRefused() {
        assertThrows(IllegalArgumentException.class, () -> store.compareAndSet("k", 8, SECOND, List.of()));
    }

    @Test
    void time_isThatOfToday() {
        long micros = await(store.now());
        assertTrue(Math.abs(micros / 1_000 - System.currentTimeMillis()) < 3_600_000, "now = " + micros);
    }

    @Test
    void writersOfOneDocument_loseNoWrite() throws Exception {
        CoordinationStore other = create(false);
        int writers = 4;
        int writes = 50;
        AtomicInteger conflicts = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < writers; i++) {
            CoordinationStore mine = i % 2 == 0 ? store : other;
            Thread thread = new Thread(() -> {
                for (int n = 0; n < writes; n++) conflicts.addAndGet(increment(mine));
            });
            thread.setUncaughtExceptionHandler((t, e) -> failures.add(e));
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) thread.join(120_000);
        other.close();
        assertEquals(List.of(), List.copyOf(failures));
        assertEquals(
                writers * writes,
                Integer.parseInt(await(store.read("n")).orElseThrow().text()));
    }

    /** How many tries have failed. */
    private static int increment(CoordinationStore store) {
        for (int conflicts = 0; ; conflicts++) {
            Optional<StoredDocument> before = await(store.read("n"));
            long version = before.map(StoredDocument::version).orElse(0L);
            int value = before.map(it -> Integer.parseInt(it.text())).orElse(0);
            StoredDocument next = new StoredDocument(version + 1, Integer.toString(value + 1));
            if (await(store.compareAndSet("n", version, next, List.of())).isStored()) return conflicts;
        }
    }

    @Test
    void bell_ringsForTheTopicsOfAWriteThatWasStored() throws Exception {
        Queue<String> heard = new ConcurrentLinkedQueue<>();
        AutoCloseable bell = store.listen("a", heard::add);
        store.listen("b", key -> heard.add("b"));
        await(store.compareAndSet("k", 0, FIRST, List.of("a", "c")));
        await(store.compareAndSet("k", 0, FIRST, List.of("a")));
        bell.close();
        await(store.compareAndSet("k", 7, SECOND, List.of("a")));
        assertEquals(List.of("k"), List.copyOf(heard));
    }
}
