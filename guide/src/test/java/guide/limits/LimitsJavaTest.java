package guide.limits;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.PermitTimeoutException;
import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncCircuitBreakers;
import baton.interop.AsyncMutexes;
import baton.interop.AsyncRateLimiter;
import baton.interop.AsyncRateLimiters;
import baton.interop.AsyncSemaphores;
import baton.interop.AsyncSingleFlight;
import baton.resilience.RateLimitedException;
import baton.resilience.RateReservation;
import baton.test.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The Java code of docs/limits-and-keys.md. */
class LimitsJavaTest {
    private final String url = "https://api.example";

    private CompletableFuture<String> fetch(String url) {
        return completedFuture("page of " + url);
    }

    @Test
    void api_burstIsUsed_failsSoonRequests() {
        CustomerApi api = new CustomerApi(customer -> completedFuture("for " + customer));
        for (int i = 0; i < 20; i++) assertEquals("for ann", api.get("ann").join());
        for (int i = 0; i < 100; i++) api.get("ann"); // ten seconds' worth, in case this thread is slow
        CompletionException e =
                assertThrows(CompletionException.class, () -> api.getSoon("ann").join());
        assertInstanceOf(PermitTimeoutException.class, e.getCause());
        assertTrue(api.mayServe("bob"));
    }

    @Test
    void limiters_ofThePage_haveTheirBursts() {
        AsyncRateLimiter bursts =
                AsyncRateLimiter.builder(10, Duration.ofSeconds(1)).burst(20).build();
        AsyncRateLimiter even = AsyncRateLimiter.leakyBucket(10, Duration.ofSeconds(1)); // one each 100 ms
        AsyncRateLimiter both = AsyncRateLimiter.builder(10, Duration.ofSeconds(1))
                .and(1_000, Duration.ofHours(1))
                .burst(20)
                .build();
        CompletableFuture<String> page = bursts.withPermit(() -> fetch(url));
        assertEquals("page of " + url, page.join());
        assertEquals(List.of(1L, 20L), List.of(even.availablePermits(), both.availablePermits()));
    }

    @Test
    void limitsOfAThousandAnHour_grantNoMoreInAnyHour_alsoAfterAPause() {
        Duration hour = Duration.ofHours(1);
        Duration second = Duration.ofSeconds(1);
        AsyncRateLimiter.Builder evenly = AsyncRateLimiter.builder(1_000, hour).burst(1);
        AsyncRateLimiter.Builder inBursts =
                AsyncRateLimiter.builder(10, second).and(500, hour).burst(20);
        AsyncRateLimiter.Builder mostly =
                AsyncRateLimiter.builder(900, hour).and(10, second).burst(100);
        AsyncRateLimiters<String> perCustomer = AsyncRateLimiters.create(inBursts.name("customers"));
        assertTrue(perCustomer.tryAcquire("ann"));
        for (AsyncRateLimiter.Builder builder : List.of(evenly, inBursts, mostly)) {
            ManualClock clock = new ManualClock();
            AsyncRateLimiter limiter = builder.clock(clock).build();
            List<Long> instants = new ArrayList<>();
            for (int part = 0; part < 2; part++) {
                for (int step = 0; step < 3 * 36_000; step++) {
                    while (limiter.tryAcquire()) instants.add(clock.nanoTime());
                    clock.advance(Duration.ofMillis(100));
                }
                clock.advance(Duration.ofHours(5));
            }
            long most = mostIn(hour, instants);
            assertTrue(most == 999 || most == 1_000, () -> limiter + ": " + most);
        }
    }

    /** An hour ends before the same time of the next one. */
    private static int mostIn(Duration window, List<Long> instants) {
        int most = 0;
        int last = 0;
        for (int first = 0; first < instants.size(); first++) {
            while (last < instants.size() && instants.get(last) - instants.get(first) < window.toNanos()) last++;
            most = Math.max(most, last - first);
        }
        return most;
    }

    private final AsyncRateLimiters<String> perClient = AsyncRateLimiters.create(
            AsyncRateLimiter.builder(10, Duration.ofSeconds(1)).burst(20).maxWaiting(0));

    CompletableFuture<String> serve(String client) {
        return perClient.withPermit(client, () -> load(client)).exceptionally(e -> {
            if (!(e instanceof RateLimitedException limited)) throw new CompletionException(e);
            long seconds = limited.retryIn().plusNanos(999_999_999).toSeconds();
            return "429, Retry-After: " + seconds;
        });
    }

    private static CompletableFuture<String> load(String client) {
        return completedFuture("page of " + client);
    }

    @Test
    void serve_requestsTooMany_are429s() {
        assertEquals("page of ann", serve("ann").join());
        String answer;
        do answer = serve("ann").join();
        while (answer.startsWith("page"));
        assertEquals("429, Retry-After: 1", answer);
        assertEquals("page of bob", serve("bob").join());
    }

    @Test
    void reserve_threePermits_areSentAfterTheirDelay() throws Exception {
        AsyncRateLimiter bursts = AsyncRateLimiter.tokenBucket(100, Duration.ofSeconds(1));
        assertTrue(bursts.tryAcquire(100));
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        List<String> three = List.of("a", "b", "c");
        RateReservation reservation = bursts.reserve(3);
        timer.schedule(() -> send(three), reservation.delay().toMillis(), TimeUnit.MILLISECONDS);
        assertTrue(sent.await(10, TimeUnit.SECONDS));
        timer.shutdown();
    }

    private final CountDownLatch sent = new CountDownLatch(3);

    private void send(List<String> elements) {
        elements.forEach(element -> sent.countDown());
    }

    @Test
    void byKey_breakerAndSemaphore_letThrough() throws Exception {
        String host = "api.example";
        AsyncSemaphores<String> perHost = AsyncSemaphores.create(4);
        AsyncCircuitBreakers<String> breakers =
                AsyncCircuitBreakers.create(AsyncCircuitBreaker.builder().minimumCalls(20), Duration.ofMinutes(10));
        CompletableFuture<String> page = breakers.protect(host, () -> perHost.withPermit(host, () -> fetch(url)));
        assertEquals("page of " + url, page.join());
        CompletableFuture<String> soon = perHost.withPermit(host, () -> fetch(url), Duration.ofMillis(100));
        String text = perHost.blocking().call(host, Duration.ofMillis(100), () -> fetchBlocking(url));
        assertEquals(List.of("page of " + url, "text of " + url), List.of(soon.join(), text));
    }

    private static String fetchBlocking(String url) {
        return "text of " + url;
    }

    @Test
    void withLocks_twoKeys_returnsTheValue() {
        String from = "a";
        String to = "b";
        AsyncMutexes<String> locks = AsyncMutexes.create();
        CompletableFuture<Integer> moved = locks.withLocks(List.of(from, to), () -> transfer(from, to));
        assertEquals(2, moved.join());
    }

    private static CompletableFuture<Integer> transfer(String from, String to) {
        return completedFuture(from.length() + to.length());
    }

    @Test
    void singleFlight_futureAndThread_load() throws Exception {
        String id = "7";
        AsyncSingleFlight<String, String> flight = AsyncSingleFlight.create();
        CompletableFuture<String> user = flight.run(id, () -> loadUser(id));
        String same = flight.blocking().run(id, () -> loadUserBlocking(id));
        assertEquals("user 7", user.join());
        assertEquals("user 7", same);
    }

    private static CompletableFuture<String> loadUser(String id) {
        return completedFuture("user " + id);
    }

    private static String loadUserBlocking(String id) {
        return "user " + id;
    }
}
