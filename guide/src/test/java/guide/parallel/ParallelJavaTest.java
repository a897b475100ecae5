package guide.parallel;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.batch.BatchReport;
import baton.batch.ConcurrencyConfig;
import baton.interop.AsyncBatchProcessor;
import baton.interop.CancellableFuture;
import baton.interop.TaskScope;
import baton.interop.Tasks;
import baton.parallel.MemoryGate;
import baton.parallel.Outcome;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The Java code of docs/parallel-and-batch.md. */
class ParallelJavaTest {
    private final ExecutorService executor = Executors.newCachedThreadPool();
    private final List<String> urls = List.of("a", "b", "c");

    @AfterEach
    void shutDown() {
        executor.shutdownNow();
    }

    private CompletableFuture<String> fetch(String url) {
        if (url.equals("b")) return CompletableFuture.failedFuture(new IOException("down"));
        return completedFuture("title of " + url + "\nbody");
    }

    @Test
    void titles_bothWays_areInTheirOrder() throws Exception {
        List<String> expected = List.of("title of a", "title of b", "title of c");
        assertEquals(
                expected,
                Titles.titles(urls, url -> completedFuture("title of " + url + "\n"))
                        .join());
        assertEquals(expected, Titles.titlesBlocking(urls, url -> "title of " + url + "\n"));
    }

    @Test
    void mapSettled_oneFails_isAnOutcome() {
        List<Outcome<String>> outcomes =
                Tasks.mapSettled(urls, 5, 10, url -> fetch(url)).join();
        for (int i = 0; i < urls.size(); i++) {
            Outcome<String> outcome = outcomes.get(i);
            if (outcome instanceof Outcome.Success<String> success) save(urls.get(i), success.getValue());
            else if (outcome instanceof Outcome.Failure failure) log(urls.get(i) + ": " + failure.getCause());
            else log(urls.get(i) + ": " + outcome); // Outcome.Cancelled, or Outcome.NotStarted: ten others have failed
        }
        assertEquals(List.of("saved a", "b: java.io.IOException: down", "saved c"), lines);
        assertEquals(3, Tasks.mapSettled(urls, 5, url -> fetch(url)).join().size());
    }

    private final List<String> lines = new ArrayList<>();

    private void save(String url, String page) {
        lines.add("saved " + url);
    }

    private void log(String line) {
        lines.add(line);
    }

    @Test
    void processInChunks_threeOfTwo_areTwoChunks() throws Exception {
        List<String> urls = List.of("x", "y");
        Flow.Publisher<List<String>> chunks = Tasks.processInChunks(urls, 50, 10, url -> fetch(url));
        assertEquals(1, Collected.all(chunks).size());
    }

    @Test
    void gate_openHeap_letsThrough() throws Exception {
        List<String> urls = List.of("x", "y");
        MemoryGate gate = MemoryGate.create(0.80, 0.70, 512L << 20);
        Flow.Publisher<List<String>> chunks = Tasks.processInChunks(urls, 50, 10, gate, url -> fetch(url));
        assertEquals(2, Collected.all(chunks).get(0).size());
    }

    private CompletableFuture<String> post(String order) {
        return fetch(order);
    }

    private final List<String> stored = new ArrayList<>();

    private CompletableFuture<Void> store(String order, String receipt) {
        stored.add(order + " " + receipt.length());
        return completedFuture(null);
    }

    @Test
    void batch_oneFails_isInTheReport() {
        List<String> orders = List.of("a", "c");
        ConcurrencyConfig config = ConcurrencyConfig.from(System.getProperties(), "import.");
        AsyncBatchProcessor batch = AsyncBatchProcessor.create(config);
        CompletableFuture<BatchReport<String>> report =
                batch.process(orders, order -> post(order), (order, receipt) -> store(order, receipt), progress -> {});
        assertEquals(2, report.join().getSucceeded());
        assertEquals(2, stored.size());
    }

    private static final class Connection {
        final CountDownLatch aborted = new CountDownLatch(1);

        void abort() {
            aborted.countDown();
        }

        String load() throws InterruptedException {
            assertTrue(aborted.await(10, TimeUnit.SECONDS));
            return "page";
        }
    }

    @Test
    void cancel_ofADerivedStage_abortsTheConnection() {
        Connection connection = new Connection();
        CancellableFuture<String> page = CancellableFuture.supply(executor, token -> {
            token.onCancel(connection::abort);
            return connection.load();
        });
        CancellableFuture<Integer> length = page.thenApply(String::length);
        length.cancel(true); // aborts the connection: no other stage wants the page
        page.terminated().join();
        assertTrue(page.isCancelled());
    }

    private String page(String id) throws Exception {
        try (TaskScope scope = TaskScope.open(executor)) {
            CancellableFuture<String> user = scope.fork(() -> loadUser(id));
            CancellableFuture<String> cart = scope.fork(() -> loadCart(id));
            scope.join(Duration.ofSeconds(2));
            return user.join() + cart.join();
        }
    }

    private static String loadUser(String id) {
        return "user " + id;
    }

    private static String loadCart(String id) {
        return ", cart of " + id;
    }

    @Test
    void taskScope_twoFunctions_areJoined() throws Exception {
        assertEquals("user 7, cart of 7", page("7"));
    }
}
