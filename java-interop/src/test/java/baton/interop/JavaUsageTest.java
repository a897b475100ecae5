package baton.interop;

import static baton.interop.Futures.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** The forms that users write. */
class JavaUsageTest {
    @Test
    void semaphore_asInTheUsage_compilesAndRuns() {
        AsyncSemaphore semaphore = AsyncSemaphore.create(10);
        AsyncSemaphore same = AsyncSemaphore.of(semaphore.kotlin());
        CompletableFuture<Permit> one = semaphore.acquire();
        CompletableFuture<Permit> three = semaphore.acquire(3);
        CompletableFuture<Permit> timed = semaphore.acquire(3, Duration.ofMillis(50));
        Optional<Permit> now = semaphore.tryAcquire();
        assertSame(semaphore.kotlin(), same.kotlin());
        assertEquals(2, same.availablePermits());
        assertInstanceOf(TimeoutException.class, Futures.awaitFailure(semaphore.acquire(3, Duration.ofMillis(50))));
        try (Permit permit = semaphore.acquire().join()) {
            assertTrue(permit.toString().startsWith("held: 1 permit of Semaphore"), permit.toString());
        }
        one.join().close();
        three.join().close();
        timed.join().close();
        now.orElseThrow().close();
        assertEquals(10, semaphore.availablePermits());
        assertEquals(0, semaphore.waiting());
        semaphore.resize(20);
        semaphore.close();
        semaphore.awaitIdle().join();
    }

    /** Fails as it may in a place without a network; either way the permit comes back. */
    @Test
    void withPermit_aroundAnHttpCall_compilesAndGivesBack() {
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        HttpClient client = HttpClient.newHttpClient();
        HttpRequest request =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:9/")).build();
        CompletableFuture<String> body = semaphore.withPermit(
                () -> client.sendAsync(request, BodyHandlers.ofString()).thenApply(HttpResponse::body));
        assertInstanceOf(IOException.class, Futures.awaitFailure(body));
        assertEquals(1, semaphore.availablePermits());
    }

    @Test
    void mutex_asInTheUsage_compilesAndRuns() {
        AsyncMutex mutex = AsyncMutex.create();
        CompletableFuture<Permit> held = mutex.lock();
        CompletableFuture<Integer> locked = mutex.withLock(() -> CompletableFuture.completedFuture(1));
        held.join().close();
        assertEquals(1, await(locked));
    }

    @Test
    void barrier_asInTheUsage_compilesAndRuns() {
        CompletableFuture<Integer> index = AsyncBarrier.create(3).arrive();
        index.cancel(false);
        AsyncBarrier barrier = AsyncBarrier.create(2, () -> CompletableFuture.runAsync(() -> {}));
        CompletableFuture<Integer> first = barrier.arrive(Duration.ofSeconds(10));
        assertEquals(0, await(barrier.arrive()));
        assertEquals(1, await(first));
    }
}
