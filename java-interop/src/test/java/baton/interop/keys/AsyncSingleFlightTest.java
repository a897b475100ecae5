package baton.interop.keys;

import static baton.interop.Futures.await;
import static baton.interop.Futures.awaitFailure;
import static baton.interop.Futures.failure;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncSingleFlight;
import baton.interop.Futures;
import baton.interop.blocking.BlockedCall;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class AsyncSingleFlightTest {
    private final AsyncSingleFlight<String, Integer> flight = AsyncSingleFlight.create("users");
    private final AtomicInteger loads = new AtomicInteger();
    private final CompletableFuture<Integer> stage = new CompletableFuture<>();

    private CompletableFuture<Integer> load() {
        loads.incrementAndGet();
        return stage;
    }

    @Test
    void futuresOfOneKey_shareARun_andItsResultIsNotKept() {
        CompletableFuture<Integer> first = flight.run("a", this::load);
        CompletableFuture<Integer> second = flight.run("a", this::load);
        assertEquals(
                5, flight.run("b", () -> CompletableFuture.completedFuture(5)).join());
        assertFalse(second.isDone());
        stage.complete(7);
        assertEquals(List.of(7, 7), List.of(first.join(), second.join()));
        assertEquals(1, loads.get());
        assertEquals(0, flight.size());
        assertEquals(8, flight.run("a", () -> 8, Runnable::run).join());
    }

    @Test
    void futureThatIsCancelledOrCompleted_leavesAlone_andTheLastCancelsTheStage() {
        CompletableFuture<Integer> first = flight.run("a", this::load);
        CompletableFuture<Integer> second = flight.run("a", this::load);
        CompletableFuture<Integer> third = flight.run("a", this::load);
        assertTrue(first.cancel(true));
        assertTrue(second.complete(1));
        assertFalse(stage.isDone());
        assertFalse(third.isDone());
        assertTrue(third.completeExceptionally(new IOException()));
        assertTrue(stage.isCancelled());
        assertEquals(0, flight.size());
        assertEquals(
                9, flight.run("a", () -> CompletableFuture.completedFuture(9)).join());
    }

    @Test
    void failureOfTheStage_orOfTheLoad_reachesAll() {
        CompletableFuture<Integer> first = flight.run("a", this::load);
        CompletableFuture<Integer> second = flight.run("a", this::load);
        IOException down = new IOException();
        stage.completeExceptionally(new java.util.concurrent.CompletionException(down));
        assertSame(down, failure(first));
        assertSame(down, failure(second));
        Error error = new AssertionError();
        CompletableFuture<Integer> thrown = flight.run("a", () -> {
            throw error;
        });
        assertSame(error, failure(thrown));
        assertInstanceOf(NullPointerException.class, failure(flight.run("a", () -> null)));
        assertInstanceOf(RejectedExecutionException.class, failure(flight.run("a", () -> 1, Futures.REJECTING)));
        assertEquals(0, flight.size());
    }

    @Test
    void stageThatIsCancelledByOthers_failsTheFutures_butDoesNotCancelThem() {
        CompletableFuture<Integer> first = flight.run("a", this::load);
        CompletableFuture<Integer> second = flight.run("a", this::load);
        stage.cancel(true);
        for (CompletableFuture<Integer> future : List.of(first, second)) {
            assertFalse(future.isCancelled());
            Throwable failure = assertInstanceOf(IllegalStateException.class, failure(future));
            assertInstanceOf(CancellationException.class, failure.getCause());
        }
    }

    @Test
    void runInsideItsOwnLoad_isRefused() throws Exception {
        CompletableFuture<Integer> nested = flight.run("a", () -> flight.run("a", this::load));
        assertInstanceOf(IllegalStateException.class, failure(nested));
        Exception blocked = assertThrows(
                IllegalStateException.class,
                () -> flight.blocking().run("a", () -> flight.blocking().run("a", () -> 1)));
        assertEquals("SingleFlight 'users[a]' inside itself, must not wait for itself", blocked.getMessage());
        assertEquals(3, flight.blocking().run("a", () -> flight.blocking().run("b", () -> 3)));
        assertEquals(0, flight.size());
    }

    @Test
    void forget_letsTheNextCallerBeginAnew() {
        CompletableFuture<Integer> first = flight.run("a", this::load);
        flight.forget("a");
        assertEquals(
                2, flight.run("a", () -> CompletableFuture.completedFuture(2)).join());
        stage.complete(1);
        assertEquals(1, first.join());
    }

    @Test
    void threadsAndFutures_shareARun_onAThreadOfItsOwn() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        BlockedCall<Integer> first = BlockedCall.parked(() -> flight.blocking().run("a", () -> {
            loads.incrementAndGet();
            assertTrue(gate.await(2, TimeUnit.MINUTES));
            return 7;
        }));
        BlockedCall<Integer> second = BlockedCall.parked(() -> flight.blocking().run("a", () -> 8));
        CompletableFuture<Integer> third = flight.run("a", this::load);
        first.thread.interrupt();
        first.interruption();
        gate.countDown();
        assertEquals(7, second.result());
        assertEquals(7, await(third));
        assertEquals(1, loads.get());
    }

    @Test
    void lastThreadThatIsInterrupted_interruptsTheLoad() throws Exception {
        CompletableFuture<Throwable> end = new CompletableFuture<>();
        CountDownLatch begun = new CountDownLatch(1);
        BlockedCall<Integer> only = BlockedCall.started(() -> flight.blocking().run("a", () -> {
            begun.countDown();
            try {
                new CountDownLatch(1).await();
                return 1;
            } catch (InterruptedException e) {
                end.complete(e);
                throw e;
            }
        }));
        assertTrue(begun.await(2, TimeUnit.MINUTES));
        only.awaitParked();
        only.thread.interrupt();
        assertInstanceOf(InterruptedException.class, await(end));
        only.interruption();
        assertEquals(9, flight.blocking().run("a", () -> 9));
    }

    @Test
    void checkedFailureOfALoad_isThrownAsItIs() {
        IOException down = new IOException();
        IOException thrown = assertThrows(
                IOException.class,
                () -> flight.blocking().run("a", () -> {
                    throw down;
                }));
        assertSame(down, thrown);
        assertSame(
                down,
                awaitFailure(flight.run(
                        "a",
                        () -> {
                            throw down;
                        },
                        Runnable::run)));
    }
}
