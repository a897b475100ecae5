package baton.interop;

import static baton.interop.Futures.await;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.parallel.MemoryGate;
import baton.scheduler.OnFullQueue;
import baton.sync.SemaphoreClosedException;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** The examples in the documentation of the classes. */
class DocExamplesTest {
    private record Page(String title) {}

    private static final class Connection {
        boolean isAborted;

        void abort() {
            isAborted = true;
        }

        Page load() {
            return new Page("title");
        }
    }

    private final Map<String, Integer> cache = new HashMap<>();
    private int stored = 1;
    private boolean merged;
    private boolean served;

    private CompletableFuture<Integer> load() {
        return CompletableFuture.completedFuture(stored);
    }

    private CompletableFuture<Integer> store(int value) {
        stored = value;
        return load();
    }

    private static CompletableFuture<Integer> load(Map<String, Integer> cache, String key) {
        return CompletableFuture.completedFuture(cache.get(key));
    }

    private static CompletableFuture<Void> store(Map<String, Integer> cache, String key, int value) {
        return CompletableFuture.runAsync(() -> cache.put(key, value));
    }

    private void mergeResults() {
        merged = true;
    }

    private void serve() {
        served = true;
    }

    private static CompletableFuture<String> computePart() {
        return CompletableFuture.completedFuture("part");
    }

    private static CompletableFuture<Void> upload(String file) {
        return CompletableFuture.runAsync(() -> assertTrue(file.startsWith("file")));
    }

    /** Fails, because nothing listens at the address. */
    @Test
    void semaphore_withPermit_releasesIt() {
        HttpClient client = HttpClient.newHttpClient();
        HttpRequest request =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:9/")).build();
        AsyncSemaphore uplink = AsyncSemaphore.create(10);
        CompletableFuture<String> body = uplink.withPermit(
                () -> client.sendAsync(request, BodyHandlers.ofString()).thenApply(HttpResponse::body));
        assertInstanceOf(IOException.class, Futures.awaitFailure(body));
        assertEquals(10, uplink.availablePermits());
    }

    private CompletableFuture<String> fetch(String url) {
        return CompletableFuture.completedFuture("page of " + url);
    }

    @Test
    void tasks_mapLimitAndChunks_mapAll() {
        List<String> urls = List.of("a", "b");
        List<String> all = List.of("page of a", "page of b");
        CompletableFuture<List<String>> pages = Tasks.mapLimit(urls, 5, this::fetch);
        assertEquals(all, await(pages));
        Flow.Publisher<List<String>> chunks = Tasks.processInChunks(urls, 50, 10, this::fetch);
        assertEquals(List.of(all, "completed"), results(chunks));
        Flow.Publisher<String> stream = Tasks.mapLimit(chunks, 5, chunk -> fetch(chunk.get(0)));
        assertEquals(List.of("page of page of a", "completed"), results(stream));
    }

    @Test
    void tasks_chunksWithAGate_mapAll() {
        List<String> urls = List.of("a", "b");
        MemoryGate gate = MemoryGate.create(0.80, 0.70, 512L << 20);
        Flow.Publisher<List<String>> chunks = Tasks.processInChunks(urls, 50, 10, gate, this::fetch);
        assertEquals(2, results(chunks).size());
    }

    private static <T> List<Object> results(Flow.Publisher<T> publisher) {
        Recorder<T> recorder = new Recorder<>();
        publisher.subscribe(recorder);
        recorder.subscription.request(Long.MAX_VALUE);
        return recorder.results();
    }

    @Test
    void permit_inATryBlock_isClosed() throws Exception {
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        try (Permit permit = semaphore.blocking().acquire()) {
            assertTrue(permit.isHeld());
        }
        assertEquals(1, semaphore.availablePermits());
    }

    @Test
    void mutex_withLock_runsTheAction() {
        AsyncMutex mutex = AsyncMutex.create();
        CompletableFuture<Integer> next = mutex.withLock(() -> load().thenCompose(n -> store(n + 1)));
        assertEquals(2, await(next));
    }

    @Test
    void readWriteLock_withReadAndWrite_runTheActions() {
        AsyncReadWriteLock lock = AsyncReadWriteLock.create();
        CompletableFuture<Integer> value = lock.withRead(() -> load(cache, "x"));
        CompletableFuture<Void> stored = lock.withWrite(() -> store(cache, "x", 1));
        await(value.handle((v, e) -> v));
        await(stored.handle((v, e) -> v));
        assertEquals(1, cache.get("x"));
        try (UpgradablePermit permit = lock.lockUpgradable().join()) {
            WritePermit writes = permit.upgrade().join();
            cache.clear();
            writes.downgrade();
        }
        assertEquals(0, lock.readers());
    }

    @Test
    void channel_forEach_getsAllElements() {
        List<String> printed = Collections.synchronizedList(new ArrayList<>());
        AsyncChannel<String> lines = AsyncChannel.create(64);
        CompletableFuture<Void> ended = lines.forEach(printed::add);
        lines.send("one").thenCompose(sent -> lines.send("two")).thenRun(lines::close);
        await(ended.handle((v, e) -> v));
        assertEquals(List.of("one", "two"), printed);
    }

    @Test
    void barrier_withAnAction_runsItOnce() {
        AsyncBarrier barrier = AsyncBarrier.create(2, () -> CompletableFuture.runAsync(this::mergeResults));
        CompletableFuture<Integer> first = computePart().thenCompose(part -> barrier.arrive());
        CompletableFuture<Integer> index = computePart().thenCompose(part -> barrier.arrive());
        assertEquals(1, await(first) + await(index));
        assertTrue(merged);
    }

    @Test
    void latch_countedDown_opens() {
        AsyncLatch ready = AsyncLatch.create(2);
        load().thenRun(ready::countDown);
        store(2).thenRun(ready::countDown);
        CompletableFuture<Void> started = ready.await().thenRun(this::serve);
        await(started.handle((v, e) -> v));
        assertTrue(served);
    }

    @Test
    void waitGroup_atZero_completesItsFutures() {
        List<String> files = List.of("file a", "file b");
        AsyncWaitGroup uploads = AsyncWaitGroup.create();
        for (String file : files) {
            uploads.add();
            upload(file).whenComplete((value, failure) -> uploads.done());
        }
        CompletableFuture<Void> allEnded = uploads.await();
        await(allEnded.handle((v, e) -> v));
        assertEquals(0, uploads.count());
    }

    @Test
    void schedulerBuilder_withSettings_builds() {
        AsyncTaskScheduler scheduler = AsyncTaskScheduler.builder(3)
                .maxWait(Priority.LOW, Duration.ofSeconds(5))
                .capacity(1_000, OnFullQueue.REJECT)
                .build();
        assertEquals(3, scheduler.maxConcurrency());
        scheduler.close();
    }

    @Test
    void scheduledTask_whosePriorityChanges_isAtTheNewLevel() {
        AsyncTaskScheduler scheduler = AsyncTaskScheduler.create(3);
        scheduler.pause();
        String url = "a";
        ScheduledTaskFuture<Page> page = scheduler.schedule(Priority.LOW, () -> new Page(url));
        page.priority(Priority.HIGH); // the user opened it
        TaskOptions prefetch = TaskOptions.of(Priority.LOW).withKey(url).withDeadline(Duration.ofSeconds(5));
        CompletableFuture<Page> next =
                scheduler.schedule(prefetch, () -> CompletableFuture.completedFuture(new Page(url)));
        assertEquals(Priority.HIGH, page.priority());
        scheduler.resume();
        assertEquals(await(page), await(next));
        scheduler.close();
    }

    @Test
    void semaphoreAndChannel_inATryBlock_areClosed() {
        AsyncChannel<String> lines = AsyncChannel.create(1, "lines");
        AsyncSemaphore uplink = AsyncSemaphore.create(1, "uplink");
        try (lines;
                uplink) {
            assertTrue(lines.trySend("x"));
            assertEquals(1, uplink.permits());
        }
        assertTrue(lines.isClosed());
        assertInstanceOf(SemaphoreClosedException.class, failure(uplink.acquire()));
    }

    @Test
    void cancellableFuture_whoseOnlyStageIsCancelled_isAborted() {
        Connection connection = new Connection();
        Futures.Steps pool = new Futures.Steps();
        CancellableFuture<String> title = titleOf(connection, pool);
        title.cancel(true);
        pool.runAll();
        assertTrue(title.isCancelled());
        assertEquals("title", titleOf(connection, Runnable::run).join());
    }

    private static CancellableFuture<String> titleOf(Connection connection, Executor pool) {
        CancellableFuture<Page> page = CancellableFuture.supply(pool, token -> {
            token.onCancel(connection::abort);
            return connection.load();
        });
        return page.thenApply(Page::title);
    }

    @Test
    void cancellationToken_notCancelled_letsTheFunctionEnd() {
        List<Integer> numbers = List.of(1, 2, 3);
        CancellableFuture<Integer> sum = CancellableFuture.supply(Runnable::run, token -> {
            int total = 0;
            for (int number : numbers) {
                token.throwIfCancelled();
                total += number;
            }
            return total;
        });
        assertEquals(6, sum.join());
    }

    @Test
    void leakReport_withAListener_canBeDisabled() {
        PrintStream log = System.out;
        LeakReport.enable(leak -> log.println("lost: " + leak.permit()));
        LeakReport.disable();
    }

    private static String refreshToken() {
        return "token";
    }

    private static Page loadPage() {
        return new Page("loaded");
    }

    @Test
    void priorityExecutor_runsCallsOfTwoLevels() throws Exception {
        PriorityExecutor normal = PriorityExecutor.create(4, "uplink");
        PriorityExecutor critical = normal.level(Priority.CRITICAL);
        Future<String> token = critical.submit(() -> refreshToken());
        CompletableFuture<Page> page = CompletableFuture.supplyAsync(() -> loadPage(), normal);
        assertEquals("token", token.get());
        assertEquals(new Page("loaded"), await(page));
        normal.shutdown();
    }

    /** Fails, because nothing listens at the address. */
    @Test
    void retry_ofACallThatFails_failsAfterAllAttempts() {
        HttpClient client = HttpClient.newHttpClient();
        HttpRequest request =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:9/")).build();
        AsyncRetry retry = AsyncRetry.builder()
                .maxAttempts(5)
                .exponential(Duration.ofMillis(2), Duration.ofSeconds(10))
                .attemptTimeout(Duration.ofSeconds(5))
                .build();
        CompletableFuture<HttpResponse<String>> answer = retry.call(
                () -> client.sendAsync(request, BodyHandlers.ofString()),
                response -> response.statusCode() == 429,
                response -> AsyncRetry.parseRetryAfter(response.headers().firstValue("Retry-After")));
        assertEquals(4, Futures.awaitFailure(answer).getSuppressed().length);
        assertThrows(IOException.class, () -> {
            String body = retry.blocking()
                    .call(() -> client.send(request, BodyHandlers.ofString()).body());
            throw new AssertionError(body);
        });
    }

    /** Fails, because nothing listens at the address. */
    @Test
    void rateLimiter_ofACallThatFails_hasUsedItsPermit() {
        HttpClient client = HttpClient.newHttpClient();
        HttpRequest request =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:9/")).build();
        AsyncRateLimiter limiter =
                AsyncRateLimiter.builder(10, Duration.ofDays(1)).burst(20).build();
        CompletableFuture<String> body = limiter.withPermit(
                () -> client.sendAsync(request, BodyHandlers.ofString()).thenApply(HttpResponse::body));
        assertInstanceOf(IOException.class, Futures.awaitFailure(body));
        assertThrows(IOException.class, () -> {
            BlockingRateLimiter blocking = limiter.blocking();
            String answer = blocking.call(
                    () -> client.send(request, BodyHandlers.ofString()).body());
            throw new AssertionError(answer);
        });
        assertEquals(18, limiter.availablePermits());
        AsyncRateLimiter severalRates = AsyncRateLimiter.builder(10, Duration.ofSeconds(1))
                .and(1_000, Duration.ofHours(1))
                .burst(20)
                .build();
        assertEquals(20, severalRates.availablePermits());
    }

    @Test
    void breaker_example_fetchesThePage() throws Exception {
        AsyncCircuitBreaker breaker = AsyncCircuitBreaker.builder()
                .window(100)
                .failureRate(0.5)
                .openFor(Duration.ofSeconds(5), Duration.ofMinutes(2))
                .isFailure(e -> e instanceof IOException)
                .name("api")
                .build();
        AsyncRetry retry = AsyncRetry.builder().build();
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        CompletableFuture<String> page = breaker.protect(() -> CompletableFuture.completedFuture("page"));
        CompletableFuture<String> limited =
                breaker.protect(() -> CompletableFuture.completedFuture("page").orTimeout(1, TimeUnit.SECONDS));
        CompletableFuture<String> all = retry.call(
                () -> breaker.protect(() -> semaphore.withPermit(() -> CompletableFuture.completedFuture("page"))));
        for (CompletableFuture<String> future : List.of(page, limited, all)) assertEquals("page", await(future));
        String body = breaker.blocking().call(() -> "page");
        assertEquals("page", body);
    }

    @Test
    void keys_examples_useAnObjectForEach() throws Exception {
        AsyncRateLimiters<String> perCustomer = AsyncRateLimiters.create(
                AsyncRateLimiter.builder(10, Duration.ofSeconds(1)).burst(20));
        AsyncSemaphores<String> perHost = AsyncSemaphores.create(4);
        AsyncMutexes<String> locks = AsyncMutexes.create();
        AsyncCircuitBreakers<String> breakers =
                AsyncCircuitBreakers.create(AsyncCircuitBreaker.builder().minimumCalls(5), Duration.ofMinutes(10));
        AsyncSingleFlight<String, String> flight = AsyncSingleFlight.create();
        Supplier<CompletableFuture<String>> page = () -> CompletableFuture.completedFuture("page");
        for (CompletableFuture<String> future : List.of(
                perCustomer.withPermit("customer", page),
                perHost.withPermit("host", page),
                locks.withLock("a", page),
                locks.withLocks(List.of("a", "b"), page),
                breakers.protect("host", page),
                flight.run("user", page))) assertEquals("page", await(future));
        assertEquals("page", perCustomer.blocking().call("customer", () -> "page"));
        assertEquals("page", perHost.blocking().call("host", () -> "page"));
        assertEquals("page", locks.blocking().call("a", () -> "page"));
        assertEquals("page", breakers.blocking().call("host", () -> "page"));
        assertEquals("page", flight.blocking().run("user", () -> "page"));
    }
}
