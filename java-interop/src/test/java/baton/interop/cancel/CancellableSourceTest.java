package baton.interop.cancel;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncSemaphore;
import baton.interop.CancellableFuture;
import baton.interop.Futures;
import baton.interop.Permit;
import baton.interop.futures.Ender;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Once a future is done, the request of its source has left the queue. */
class CancellableSourceTest {
    private final AsyncSemaphore semaphore = AsyncSemaphore.create(1);
    private final Permit held = semaphore.acquire().join();

    /** The number of requests that still wait when the future is first observed as done. */
    private int waitingAtTheEnd(CancellableFuture<?> future, Ender end) throws Exception {
        CompletableFuture<Integer> seen = new CompletableFuture<>();
        future.toCompletableFuture().whenComplete((value, e) -> seen.complete(semaphore.waiting()));
        assertEquals(1, semaphore.waiting());
        end.end(future);
        return seen.get(120, SECONDS);
    }

    private CancellableFuture<Permit> source() {
        return CancellableFuture.of(semaphore.acquire());
    }

    @ParameterizedTest
    @EnumSource
    void future_ended_hasLeftItsSource(Ender end) throws Exception {
        assertEquals(0, waitingAtTheEnd(source(), end));
    }

    @ParameterizedTest
    @EnumSource
    void derived_ended_hasLeftItsSource(Ender end) throws Exception {
        assertEquals(0, waitingAtTheEnd(source().thenApply(permit -> permit).whenComplete((p, e) -> {}), end));
    }

    @ParameterizedTest
    @EnumSource
    void combined_ended_hasLeftItsPlainSource(Ender end) throws Exception {
        CancellableFuture<String> first = CancellableFuture.of(new CompletableFuture<String>());
        CancellableFuture<Permit> combined = first.thenCombine(semaphore.acquire(), (text, permit) -> permit);
        assertEquals(0, waitingAtTheEnd(combined, end));
        Futures.await(combined.terminated());
        assertTrue(first.isCancelled());
    }

    @ParameterizedTest
    @EnumSource
    void composed_ended_hasLeftItsInnerSource(Ender end) throws Exception {
        CancellableFuture<String> first = CancellableFuture.of(CompletableFuture.completedFuture(""));
        assertEquals(0, waitingAtTheEnd(first.thenCompose(text -> semaphore.acquire()), end));
    }

    @Test
    void derived_timedOut_failsWithThatAndItsSourcesWithACancellation() throws Exception {
        CancellableFuture<Permit> source = source();
        CompletableFuture<Permit> plain = semaphore.acquire();
        CancellableFuture<Permit> between = source.thenCombine(plain, (one, two) -> one);
        CancellableFuture<Permit> last = between.thenApply(permit -> permit).orTimeout(10, MILLISECONDS);
        assertTrue(Futures.awaitFailure(last) instanceof TimeoutException);
        Futures.await(last.terminated());
        assertTrue(source.isCancelled() && plain.isCancelled() && between.isCancelled());
        CancellationException why = (CancellationException) Futures.failure(source);
        assertSame(why, Futures.failure(between));
        assertTrue(why.getCause() instanceof TimeoutException);
        assertEquals(0, semaphore.waiting());
    }

    @Test
    void future_whoseSourceIsGrantedFirst_isCompletedWithTheGrant() {
        // The source is granted, but its executor has not completed it.
        Futures.Steps executor = new Futures.Steps();
        CancellableFuture<Permit> future = CancellableFuture.of(semaphore.acquire(1, executor));
        held.close();
        assertFalse(future.isDone());
        assertFalse(future.cancel(true));
        Permit permit = future.join();
        assertTrue(permit.isHeld());
        executor.runAll();
        permit.close();
        assertEquals(1, semaphore.availablePermits());
    }
}
