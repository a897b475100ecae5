package baton.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.distributed.CasAnswer;
import baton.distributed.CoordinationStore;
import baton.distributed.StoredDocument;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The contract of a {@link CoordinationStore}, as JUnit tests for a store of your own. They run in real time, a second in
 * all.
 *
 * <pre>{@code
 * class EtcdStoreTest extends StoreContract {
 *     protected CoordinationStore open() {
 *         return new EtcdStore(url, testRun);
 *     }
 * }
 * }</pre>
 *
 * <p>The tests cannot cut the connection of a store, nor lose an answer of its server: whether a failure says truly that
 * nothing was written, is not covered.
 */
@SuppressWarnings(
        "exports") // JUnit and baton-distributed are optional: a module that has no such test need not have them
public abstract class StoreContract {
    private static final StoredDocument FIRST = new StoredDocument(7, "{\"a\":\"\u00e9\"}");
    private static final StoredDocument SECOND = new StoredDocument(8, "{}");
    private static final long LONGEST_WAIT_SECONDS = 120;
    private static final long RING_AGAIN_MILLIS = 500;

    private final List<CoordinationStore> opened = new CopyOnWriteArrayList<>();
    private CoordinationStore store;

    /** For subclasses. */
    protected StoreContract() {}

    /** A new object for the same documents, of which there are none at the beginning of each test. Each one is closed. */
    protected abstract CoordinationStore open();

    /** Keys that are hard to keep. A store that refuses some of them says so in its own documentation. */
    protected List<String> hardKeys() {
        return List.of(
                "shop:mutex:a",
                "shop:mutex:A",
                "shop:mutex:a ",
                "shop:mutex:a/b",
                "shop:mutex:a/../b",
                "shop:mutex:.",
                "shop:mutex:/",
                "shop:mutex:it's \\ \"%_\"*?{}",
                "shop:mutex:line\nbreak",
                "shop:mutex:\u00fcn\u00efc\u00f8d\u00e9 \ud83c\udf89",
                "shop:mutex:" + "x".repeat(501));
    }

    @BeforeEach
    final void openFirst() {
        store = opened();
    }

    @AfterEach
    final void closeAll() {
        opened.forEach(CoordinationStore::close);
    }

    private CoordinationStore opened() {
        CoordinationStore fresh = open();
        opened.add(fresh);
        return fresh;
    }

    private static <T> T await(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get(LONGEST_WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError("the store has failed: " + e.getCause(), e.getCause());
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    private void write(String key, long expected, StoredDocument next, List<String> rung) {
        assertTrue(await(store.compareAndSet(key, expected, next, rung)).isStored());
    }

    private void write(String key, long expected, StoredDocument next) {
        write(key, expected, next, List.of());
    }

    /** A key without a document is empty, and cannot be deleted. */
    @Test
    public void missingDocument_isEmpty() {
        assertEquals(Optional.empty(), await(store.read("k")));
        assertFalse(await(store.delete("k", 1)));
    }

    /** A document replaces the one whose version was expected. */
    @Test
    public void documentWithTheExpectedVersion_isWritten() {
        write("k", 0, FIRST);
        assertEquals(Optional.of(FIRST), await(store.read("k")));
        write("k", 7, SECOND);
        assertEquals(Optional.of(SECOND), await(store.read("k")));
        assertEquals(Optional.empty(), await(store.read("K")));
    }

    /** A refused write returns what is there, and changes nothing. */
    @Test
    public void documentWithAnotherVersion_isReturned() {
        assertEquals(CasAnswer.conflict(Optional.empty()), await(store.compareAndSet("k", 7, SECOND, List.of())));
        write("k", 0, FIRST);
        assertEquals(CasAnswer.conflict(Optional.of(FIRST)), await(store.compareAndSet("k", 0, SECOND, List.of())));
        assertEquals(CasAnswer.conflict(Optional.of(FIRST)), await(store.compareAndSet("k", 6, SECOND, List.of())));
        assertEquals(Optional.of(FIRST), await(store.read("k")));
    }

    /** Only the expected version is deleted. Then another document may be begun. */
    @Test
    public void documentWithTheExpectedVersion_isDeleted() {
        write("k", 0, FIRST);
        assertFalse(await(store.delete("k", 6)));
        assertTrue(await(store.delete("k", 7)));
        assertFalse(await(store.delete("k", 7)));
        assertEquals(Optional.empty(), await(store.read("k")));
        assertEquals(CasAnswer.conflict(Optional.empty()), await(store.compareAndSet("k", 7, SECOND, List.of())));
        write("k", 0, SECOND);
        assertEquals(Optional.of(SECOND), await(store.read("k")));
    }

    /** Another object for the same documents sees them, also after the first one was closed. */
    @Test
    public void documents_areSeenByOtherObjects() {
        write("k", 0, FIRST);
        assertEquals(Optional.of(FIRST), await(opened().read("k")));
        store.close();
        store = opened();
        write("k", 7, SECOND);
        assertEquals(Optional.of(SECOND), await(opened().read("k")));
    }

    /** Each of the {@link #hardKeys} has a document of its own. */
    @Test
    public void hardKeys_haveDocumentsOfTheirOwn() {
        List<String> keys = hardKeys();
        for (int i = 0; i < keys.size(); i++) write(keys.get(i), 0, new StoredDocument(i + 1, "{\"n\":" + i + "}"));
        for (int i = 0; i < keys.size(); i++) {
            StoredDocument kept = new StoredDocument(i + 1, "{\"n\":" + i + "}");
            assertEquals(Optional.of(kept), await(store.read(keys.get(i))), keys.get(i));
            assertTrue(await(store.delete(keys.get(i), i + 1)), keys.get(i));
        }
    }

    /** A document may have as many characters as {@link StoredDocument#MAX_LENGTH} says, each of several bytes. */
    @Test
    public void longestDocument_isKept() {
        StoredDocument longest = new StoredDocument(1, "\u20ac".repeat(StoredDocument.MAX_LENGTH));
        write("k", 0, longest);
        assertEquals(Optional.of(longest), await(store.read("k")));
        StoredDocument empty = new StoredDocument(2, "");
        write("k", 1, empty);
        assertEquals(Optional.of(empty), await(store.read("k")));
    }

    /** Versions are compared digit by digit, also beyond what a double can tell apart. */
    @Test
    public void longestVersions_areToldApart() {
        StoredDocument last = new StoredDocument(Long.MAX_VALUE, "{}");
        write("k", 0, new StoredDocument(Long.MAX_VALUE - 1, "{}"));
        assertFalse(await(store.compareAndSet("k", Long.MAX_VALUE - 2, last, List.of()))
                .isStored());
        write("k", Long.MAX_VALUE - 1, last);
        assertFalse(await(store.delete("k", Long.MAX_VALUE - 1)));
        assertEquals(Optional.of(last), await(store.read("k")));
    }

    /** A version that is not above the expected one is refused at once. */
    @Test
    public void versionThatDoesNotGrow_isRefused() {
        assertThrows(IllegalArgumentException.class, () -> store.compareAndSet("k", 8, SECOND, List.of()));
    }

    /** The time is in microseconds. */
    @Test
    public void time_isThatOfToday() {
        long micros = await(store.now());
        assertTrue(Math.abs(micros / 1_000 - System.currentTimeMillis()) < 3_600_000, "now = " + micros);
    }

    /** Of writers that expect one version, one alone writes. */
    @Test
    public void writersOfOneDocument_loseNoWrite() throws Exception {
        CoordinationStore other = opened();
        int writers = 4;
        int writes = 50;
        List<FutureTask<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < writers; i++) {
            CoordinationStore mine = i % 2 == 0 ? store : other;
            FutureTask<Void> task = new FutureTask<>(() -> increment(mine, writes), null);
            tasks.add(task);
            new Thread(task).start();
        }
        for (FutureTask<Void> task : tasks) task.get(LONGEST_WAIT_SECONDS, TimeUnit.SECONDS);
        String sum = await(store.read("n")).map(StoredDocument::text).orElse("none");
        assertEquals(Integer.toString(writers * writes), sum);
    }

    private static void increment(CoordinationStore store, int times) {
        for (int done = 0; done < times; ) {
            Optional<StoredDocument> before = await(store.read("n"));
            long version = before.map(StoredDocument::version).orElse(0L);
            int value = before.map(it -> Integer.parseInt(it.text())).orElse(0);
            StoredDocument next = new StoredDocument(version + 1, Integer.toString(value + 1));
            if (await(store.compareAndSet("n", version, next, List.of())).isStored()) done++;
        }
    }

    /** A bell rings with the key of a document that was written, for its own topic, until it is closed. */
    @Test
    public void bell_ringsForTheTopicsOfAWriteThatWasStored() throws Exception {
        Queue<String> wrong = new ConcurrentLinkedQueue<>();
        LinkedBlockingQueue<String> heard = new LinkedBlockingQueue<>();
        AutoCloseable bell = store.listen("a", heard::add);
        AutoCloseable silent = store.listen("b", wrong::add);
        AutoCloseable refused = store.listen("c", wrong::add);
        write("shop:mutex:k", 0, FIRST, List.of("a", "d"));
        await(store.compareAndSet("shop:mutex:k", 0, FIRST, List.of("c")));
        ringUntilHeard("shop:mutex:k", 7, List.of("a", "d"), heard);
        bell.close();
        LinkedBlockingQueue<String> heardLater = new LinkedBlockingQueue<>();
        AutoCloseable later = store.listen("e", heardLater::add);
        heard.clear();
        write("shop:mutex:m", 0, FIRST, List.of("a", "e"));
        ringUntilHeard("shop:mutex:m", 7, List.of("a", "e"), heardLater);
        later.close();
        silent.close();
        refused.close();
        assertEquals(List.of(), List.copyOf(heard));
        assertEquals(List.of(), List.copyOf(wrong));
    }

    /** A ring may be lost, so that one is not enough. */
    private void ringUntilHeard(String key, long version, List<String> topics, LinkedBlockingQueue<String> heard)
            throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LONGEST_WAIT_SECONDS);
        long current = version;
        String first = null;
        while (first == null) {
            assertTrue(System.nanoTime() < end, "no ring was heard");
            first = heard.poll(RING_AGAIN_MILLIS, TimeUnit.MILLISECONDS);
            if (first == null) write(key, current, new StoredDocument(++current, "{}"), topics);
        }
        assertEquals(key, first);
    }
}
