package baton.interop.resilience;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncRetry;
import baton.interop.AsyncSemaphore;
import baton.interop.futures.Ender;
import baton.monitoring.CallEvent;
import baton.monitoring.CallOutcome;
import baton.resilience.BreakerState;
import baton.resilience.CircuitBreaker;
import baton.resilience.CircuitOpenException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLSession;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The futures of a breaker: their ends, and the builder. */
class AsyncCircuitBreakerTest {
    private final CompletableFuture<String> stage = new CompletableFuture<>();

    /** Open for an hour; one failure opens it, one probe closes it. */
    static AsyncCircuitBreaker.Builder strict() {
        return AsyncCircuitBreaker.builder()
                .window(2)
                .minimumCalls(1)
                .failureRate(1)
                .openFor(Duration.ofHours(1))
                .jitter(0)
                .probes(1, Duration.ofHours(1))
                .name("api");
    }

    static AsyncCircuitBreaker halfOpen(int probes) {
        AsyncCircuitBreaker breaker = strict().openFor(Duration.ofNanos(1))
                .probes(probes, Duration.ofHours(1))
                .build();
        awaitFailure(breaker.protect(() -> CompletableFuture.failedFuture(new IOException())));
        while (!breaker.retryIn().isZero()) Thread.onSpinWait();
        return breaker;
    }

    @Test
    void lines_ofTheDocumentation_compileAndRun() {
        AsyncCircuitBreaker breaker = AsyncCircuitBreaker.builder()
                .window(100)
                .minimumCalls(10)
                .failureRate(0.5)
                .slow(Duration.ofSeconds(2), 0.8)
                .openFor(Duration.ofSeconds(30))
                .probes(3, Duration.ofSeconds(10))
                .isFailure(e -> e instanceof IOException)
                .name("api")
                .build();
        CompletableFuture<String> guarded = breaker.protect(() -> CompletableFuture.completedFuture("page"));
        assertEquals("page", await(guarded));
        assertEquals(BreakerState.CLOSED, breaker.state());
        await(breaker.awaitClosed(Duration.ofSeconds(5)));
        breaker.trip();
        assertEquals(Duration.ofSeconds(Long.MAX_VALUE), breaker.retryIn());
        breaker.reset();
        breaker.disable();
        assertSame(breaker.kotlin(), AsyncCircuitBreaker.of(breaker.kotlin()).kotlin());
        AsyncRetry retry = AsyncRetry.builder().build();
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        CompletableFuture<String> all = retry.call(
                () -> breaker.protect(() -> semaphore.withPermit(() -> CompletableFuture.completedFuture("page"))));
        assertEquals("page", await(all));
        assertEquals(Duration.ZERO, AsyncCircuitBreaker.create("other").retryIn());
    }

    @Test
    void outcomes_ofTheDocumentation_compileAndRun() throws Exception {
        AsyncCircuitBreaker breaker = AsyncCircuitBreaker.builder()
                .ignoreIf(UncheckedIOException.class::isInstance)
                .failureResult(r -> r instanceof HttpResponse<?> h && h.statusCode() >= 500)
                .probes(5, Duration.ofSeconds(10))
                .failuresToOpen(2)
                .build();
        List<CallEvent> heard = new ArrayList<>();
        try (AutoCloseable listener = breaker.onCall(heard::add)) {
            await(breaker.protect(() -> CompletableFuture.completedFuture(new Response())));
            awaitFailure(
                    breaker.protect(() -> CompletableFuture.failedFuture(new UncheckedIOException(new IOException()))));
            breaker.protect(() -> stage).cancel(false);
            assertTrue(listener.toString().contains("listener"));
        }
        await(breaker.protect(() -> CompletableFuture.completedFuture(null)));
        assertEquals(
                List.of(CallOutcome.FAILURE, CallOutcome.IGNORED, CallOutcome.IGNORED),
                heard.stream().map(CallEvent::getOutcome).toList());
        assertFalse(heard.get(0).duration().isNegative());
        assertEquals(Duration.ZERO, heard.get(0).waited());
        assertEquals(2, breaker.metrics().getCalls());
        breaker.openFor(Duration.ofHours(1));
        assertEquals(BreakerState.OPEN, breaker.state());
        assertTrue(breaker.retryIn().compareTo(Duration.ofMinutes(10)) > 0, "no bound");
        assertThrows(IllegalArgumentException.class, () -> breaker.openFor(Duration.ZERO));
        assertThrows(
                IllegalArgumentException.class,
                () -> AsyncCircuitBreaker.builder().failuresToOpen(4));
    }

    /** An answer of a server that is overloaded. */
    private static final class Response implements HttpResponse<String> {
        @Override
        public int statusCode() {
            return 503;
        }

        @Override
        public HttpRequest request() {
            throw new UnsupportedOperationException();
        }

        @Override
        public Optional<HttpResponse<String>> previousResponse() {
            return Optional.empty();
        }

        @Override
        public HttpHeaders headers() {
            throw new UnsupportedOperationException();
        }

        @Override
        public String body() {
            return "";
        }

        @Override
        public Optional<SSLSession> sslSession() {
            return Optional.empty();
        }

        @Override
        public URI uri() {
            throw new UnsupportedOperationException();
        }

        @Override
        public HttpClient.Version version() {
            return HttpClient.Version.HTTP_2;
        }
    }

    @ParameterizedTest
    @EnumSource
    void call_endedFromOutside_countsAsNothingAndCancelsTheStage(Ender end) {
        AsyncCircuitBreaker breaker = strict().build();
        CompletableFuture<String> future = breaker.protect(() -> stage);
        end.end(future);
        await(future.handle((value, e) -> e));
        await(stage.handle((value, e) -> e));
        assertTrue(stage.isCancelled());
        assertEquals(0, breaker.metrics().getCalls());
        assertEquals(end.isCancel(), future.isCancelled());
    }

    @ParameterizedTest
    @EnumSource
    void probe_endedFromOutside_givesItsPlaceBack(Ender end) {
        AsyncCircuitBreaker breaker = halfOpen(1);
        CompletableFuture<String> future = breaker.protect(() -> stage.minimalCompletionStage());
        assertInstanceOf(CircuitOpenException.class, awaitFailure(breaker.protect(() -> stage)));
        end.end(future);
        await(future.handle((value, e) -> e));
        assertEquals("next", await(breaker.protect(() -> CompletableFuture.completedFuture("next"))));
        assertEquals(BreakerState.CLOSED, breaker.state());
        stage.completeExceptionally(new IOException("of the stage that could not be cancelled"));
        assertEquals(BreakerState.CLOSED, breaker.state());
    }

    @Test
    void call_cancelled_saysWhichBreaker() {
        CompletableFuture<String> future = strict().build().protect(() -> stage);
        assertEquals(
                "protect of CircuitBreaker 'api' (CLOSED, calls = 0, failureRate = 0.0, slowRate = 0.0, rejected = 0)",
                future.toString());
        assertTrue(future.cancel(false));
        Throwable e = assertInstanceOf(CancellationException.class, awaitFailure(future));
        assertEquals("protect of CircuitBreaker 'api' was cancelled", e.getMessage());
    }

    @Test
    void stage_cancelledByAnotherCaller_countsAsNothing() {
        AsyncCircuitBreaker breaker = strict().build();
        CompletableFuture<String> future = breaker.protect(() -> stage);
        stage.cancel(true);
        assertTrue(future.isCancelled());
        assertEquals(0, breaker.metrics().getCalls());
    }

    @Test
    void completionException_isUnwrappedForIsFailureAndTheFuture() {
        List<Throwable> seen = new ArrayList<>();
        AsyncCircuitBreaker breaker = strict().isFailure(seen::add).build();
        IOException failure = new IOException("down");
        CompletableFuture<String> future = breaker.protect(() -> stage.thenApply(x -> x));
        stage.completeExceptionally(failure);
        assertSame(failure, awaitFailure(future));
        assertEquals(List.of(failure), seen);
        breaker.reset();
        assertSame(
                failure,
                awaitFailure(breaker.protect(() -> CompletableFuture.failedFuture(new CompletionException(failure)))));
        assertEquals(List.of(failure, failure), seen);
    }

    @Test
    void action_thatThrowsOrReturnsNull_failsTheFutureAndCounts() {
        AsyncCircuitBreaker breaker = strict().build();
        IllegalStateException failure = new IllegalStateException("no");
        assertSame(failure, awaitFailure(breaker.protect(() -> {
            throw failure;
        })));
        assertEquals(BreakerState.OPEN, breaker.state());
        breaker.reset();
        assertInstanceOf(NullPointerException.class, awaitFailure(breaker.protect(() -> null)));
        assertEquals(BreakerState.OPEN, breaker.state());
    }

    @Test
    void refusal_arrivesInTheFuture_andTheActionIsNotRun() {
        AsyncCircuitBreaker breaker = strict().build();
        awaitFailure(breaker.protect(() -> CompletableFuture.failedFuture(new IOException())));
        Throwable e = awaitFailure(breaker.protect(() -> {
            throw new AssertionError("was run");
        }));
        Duration retryIn = assertInstanceOf(CircuitOpenException.class, e).retryIn();
        assertTrue(retryIn.compareTo(Duration.ofMinutes(59)) > 0 && retryIn.compareTo(Duration.ofHours(1)) <= 0);
        assertEquals(1, breaker.metrics().getRejected());
    }

    @Test
    void retry_waitsForTheBreaker() {
        AsyncCircuitBreaker breaker = strict().openFor(Duration.ofMillis(30)).build();
        awaitFailure(breaker.protect(() -> CompletableFuture.failedFuture(new IOException())));
        AsyncRetry retry = AsyncRetry.builder()
                .maxAttempts(2)
                .constant(Duration.ZERO)
                .retryIf(e -> e instanceof CircuitOpenException)
                .build();
        long start = System.nanoTime();
        assertEquals("page", await(retry.call(() -> breaker.protect(() -> CompletableFuture.completedFuture("page")))));
        assertTrue(System.nanoTime() - start < TimeUnit.SECONDS.toNanos(120));
        assertEquals(BreakerState.CLOSED, breaker.state());
    }

    @Test
    void awaitClosed_notInTime_failsWithTimeoutException() {
        AsyncCircuitBreaker breaker = strict().build();
        breaker.trip();
        for (Duration timeout : List.of(Duration.ZERO, Duration.ofMillis(-1), Duration.ofMillis(1))) {
            Throwable e = awaitFailure(breaker.awaitClosed(timeout));
            String message = assertInstanceOf(TimeoutException.class, e).getMessage();
            assertTrue(message.startsWith("not closed within "), message);
        }
        assertEquals(0, breaker.waiting());
        CompletableFuture<Void> waits = breaker.awaitClosed();
        assertTrue(breaker.awaitClosed(Runnable::run).cancel(true));
        assertFalse(waits.isDone());
        breaker.disable();
        await(waits);
    }

    @Test
    void listener_hearsOfTheChanges() throws Exception {
        AsyncCircuitBreaker breaker = strict().build();
        List<String> changes = new ArrayList<>();
        AutoCloseable listening = breaker.onChange((from, to) -> changes.add(from + " " + to));
        breaker.trip();
        breaker.reset();
        listening.close();
        breaker.disable();
        assertEquals(List.of("CLOSED FORCED_OPEN", "FORCED_OPEN CLOSED"), changes);
    }

    @Test
    void builder_toString_showsOneWindow_thatOfItsBreaker() {
        String text = AsyncCircuitBreaker.builder().window(7).minimumCalls(20).toString();
        assertTrue(
                text.startsWith("Builder of AsyncCircuitBreaker (window = Calls(size=7), minimumCalls = 20, "), text);
        assertEquals(text.indexOf("window"), text.lastIndexOf("window"), text);
    }

    @Test
    void builder_refusesAtTheCall_andTheMinimumAtTheEnd() {
        AsyncCircuitBreaker.Builder builder = AsyncCircuitBreaker.builder();
        Duration second = Duration.ofSeconds(1);
        List<Runnable> refused = List.of(
                () -> builder.window(0),
                () -> builder.window(Duration.ZERO),
                () -> builder.minimumCalls(0),
                () -> builder.failureRate(0),
                () -> builder.slow(Duration.ZERO, 1),
                () -> builder.slow(second, 1.1),
                () -> builder.openFor(Duration.ZERO),
                () -> builder.openFor(second, Duration.ZERO),
                () -> builder.jitter(2),
                () -> builder.probes(0, second),
                () -> builder.probes(1, Duration.ofSeconds(-1)));
        for (Runnable bad : refused) assertThrows(IllegalArgumentException.class, bad::run);
        assertEquals(100, windowOf(builder.build()));
        AsyncCircuitBreaker.Builder small = builder.window(5);
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, small::build);
        assertEquals("minimumCalls = 10, must be at most 5, the calls of the window", e.getMessage());
        assertEquals(5, windowOf(small.minimumCalls(5).build()));
        CircuitBreaker timed = small.minimumCalls(500).window(second).build().kotlin();
        assertEquals("Time(length=1s)", timed.getConfig().getWindow().toString());
    }

    private static int windowOf(AsyncCircuitBreaker breaker) {
        return ((baton.resilience.SlidingWindow.Calls)
                        breaker.kotlin().getConfig().getWindow())
                .getSize();
    }
}
