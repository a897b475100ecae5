package guide.reactive;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncChannel;
import baton.interop.AsyncPipeline;
import baton.interop.AsyncRateLimiter;
import baton.interop.AsyncSemaphore;
import baton.interop.Permit;
import baton.interop.Tasks;
import io.reactivex.rxjava3.core.Flowable;
import io.reactivex.rxjava3.core.Single;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.reactivestreams.FlowAdapters;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The Java code of docs/reactive.md. */
class ReactiveJavaTest {
    private static final Duration LONG = Duration.ofSeconds(10);
    private final String url = "https://api.example";
    private final Orders orders = new Orders();
    private final AsyncChannel<String> channel = AsyncChannel.create(10);

    private CompletableFuture<String> post(String order) {
        return completedFuture("receipt of " + order);
    }

    private CompletableFuture<String> fetch(String url) {
        return completedFuture("page of " + url);
    }

    private void placeTwo() {
        orders.place("a").join();
        orders.place("b").join();
        orders.close();
    }

    @Test
    void flux_ofTheReceipts_hasAll() {
        placeTwo();
        Flux<String> receipts = JdkFlowAdapter.flowPublisherToFlux(orders.receipts(order -> post(order)));
        assertEquals(
                List.of("receipt of a", "receipt of b"), receipts.collectList().block(LONG));
    }

    @Test
    void flux_ofLists_hasOne() {
        placeTwo();
        Flux<List<String>> lists = JdkFlowAdapter.flowPublisherToFlux(orders.receiptsInLists(order -> post(order)));
        assertEquals(List.of("receipt of a", "receipt of b"), lists.blockFirst(LONG));
    }

    @Test
    void flux_intoAChannel_closesIt() {
        Flux<String> source = Flux.just("a", "b", "c");
        JdkFlowAdapter.publisherToFlowPublisher(source).subscribe(channel.subscriber());
        assertEquals(List.of("a", "b", "c"), channel.receiveUpTo(10).join());
        assertTrue(channel.isClosedForReceive());
    }

    @Test
    void mono_ofARequest_isWithdrawnWhenItIsCancelled() {
        AsyncRateLimiter limiter = AsyncRateLimiter.tokenBucket(10, Duration.ofSeconds(1));
        AsyncPipeline upstream = AsyncPipeline.builder("api").limiter(limiter).build();
        Mono<String> page = Mono.fromFuture(() -> limiter.withPermit(() -> fetch(url)));
        Mono<String> guarded = Mono.fromFuture(() -> upstream.call(() -> fetch(url)));
        assertEquals(10, limiter.availablePermits());
        assertEquals("page of " + url, page.block(LONG));
        assertEquals("page of " + url, guarded.block(LONG));

        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        Permit held = semaphore.acquire().join();
        Disposable waiting = Mono.fromFuture(() -> semaphore.acquire()).subscribe();
        assertEquals(1, semaphore.waiting());
        waiting.dispose();
        assertEquals(0, semaphore.waiting());
        held.close();
    }

    @Test
    void flowable_ofTheReceipts_hasAll() {
        placeTwo();
        Flowable<String> receipts =
                Flowable.fromPublisher(FlowAdapters.toPublisher(orders.receipts(order -> post(order))));
        assertEquals(List.of("receipt of a", "receipt of b"), receipts.toList().blockingGet());
    }

    @Test
    void flowable_intoAChannel_closesIt() {
        Flowable<String> source = Flowable.just("a", "b", "c");
        FlowAdapters.toFlowPublisher(source).subscribe(channel.subscriber());
        assertEquals(List.of("a", "b", "c"), channel.receiveUpTo(10).join());
        assertTrue(channel.isClosedForReceive());
    }

    @Test
    void single_ofARequest_staysInTheQueueWhenItIsDisposedOf() {
        AsyncRateLimiter limiter = AsyncRateLimiter.tokenBucket(1, Duration.ofHours(1));
        Single<String> page = Single.defer(() -> Single.fromCompletionStage(limiter.withPermit(() -> fetch(url))));
        assertEquals("page of " + url, page.blockingGet());
        var waiting = page.subscribe();
        assertEquals(1, limiter.waiting());
        waiting.dispose();
        assertEquals(1, limiter.waiting());
        limiter.close();
    }

    @Test
    void close_withACause_failsTheSubscribers() {
        channel.close(new IOException("lost"));
        Flux<String> elements = JdkFlowAdapter.flowPublisherToFlux(channel.publisher());
        RuntimeException failure = assertThrows(RuntimeException.class, () -> elements.blockFirst(LONG));
        assertEquals("lost", failure.getCause().getMessage());
    }

    @Test
    void cancelledSubscription_leavesTheRestInTheChannel() {
        channel.trySend("a");
        channel.trySend("b");
        assertEquals(
                "a",
                JdkFlowAdapter.flowPublisherToFlux(channel.publisher()).take(1).blockFirst(LONG));
        assertEquals("b", channel.tryReceive().orElseThrow());
        assertFalse(channel.isClosed());
    }

    @Test
    void secondSubscriber_ofAStream_fails() {
        Flux<List<String>> lists =
                JdkFlowAdapter.flowPublisherToFlux(Tasks.processInChunks(Stream.of("a"), 50, 5, order -> post(order)));
        assertEquals(List.of("receipt of a"), lists.blockFirst(LONG));
        RuntimeException failure = assertThrows(RuntimeException.class, () -> lists.blockFirst(LONG));
        assertEquals("the stream has a subscription already, and can be read once", failure.getMessage());
    }

    @Test
    void stageOfNull_failsTheMap() {
        Flux<String> results = JdkFlowAdapter.flowPublisherToFlux(
                Tasks.mapLimit(channel.publisher(), 5, order -> CompletableFuture.<String>completedFuture(null)));
        channel.trySend("a");
        RuntimeException failure = assertThrows(RuntimeException.class, () -> results.blockFirst(LONG));
        assertEquals("the stage has the value null, which a publisher cannot signal", failure.getMessage());
    }
}
