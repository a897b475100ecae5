package baton.interop.keys;

import static baton.interop.Futures.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.PermitTimeoutException;
import baton.TooManyKeysException;
import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncCircuitBreakers;
import baton.interop.AsyncMutexes;
import baton.interop.AsyncRateLimiter;
import baton.interop.AsyncRateLimiters;
import baton.interop.AsyncSemaphores;
import baton.resilience.BreakerState;
import baton.resilience.CircuitOpenException;
import baton.sync.WaitOrder;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Futures and threads at objects by key: what they share with single objects is tested there. */
class ByKeyTest {
    private static final Duration LONG = Duration.ofMinutes(2);

    private static Throwable failureOf(CompletableFuture<?> future) {
        assertTrue(future.isDone());
        return assertThrows(CompletionException.class, future::join).getCause();
    }

    private static <T> Supplier<CompletableFuture<T>> never() {
        return () -> {
            throw new AssertionError("ran");
        };
    }

    /** A scope for each kind of object that is held: with the key "a". */
    private interface Scope {
        <T> CompletableFuture<T> with(Supplier<CompletableFuture<T>> action);

        <T> CompletableFuture<T> with(Supplier<CompletableFuture<T>> action, Duration timeout);

        <T> CompletableFuture<T> with(Callable<T> action, Executor executor, Duration timeout);

        int size();
    }

    private static List<Scope> scopes() {
        return List.of(new SemaphoreScope(), new MutexScope(), new MutexScope() {
            @Override
            public <T> CompletableFuture<T> with(Supplier<CompletableFuture<T>> action) {
                return mutexes.withLocks(List.of("b", "a", "b"), action);
            }
        });
    }

    private static final class SemaphoreScope implements Scope {
        private final AsyncSemaphores<String> semaphores = AsyncSemaphores.create(1);

        @Override
        public <T> CompletableFuture<T> with(Supplier<CompletableFuture<T>> action) {
            return semaphores.withPermit("a", action);
        }

        @Override
        public <T> CompletableFuture<T> with(Supplier<CompletableFuture<T>> action, Duration timeout) {
            return semaphores.withPermit("a", action, timeout);
        }

        @Override
        public <T> CompletableFuture<T> with(Callable<T> action, Executor executor, Duration timeout) {
            return semaphores.withPermit("a", action, executor, timeout);
        }

        @Override
        public int size() {
            return semaphores.size();
        }
    }

    private static class MutexScope implements Scope {
        final AsyncMutexes<String> mutexes = AsyncMutexes.create();

        @Override
        public <T> CompletableFuture<T> with(Supplier<CompletableFuture<T>> action) {
            return mutexes.withLock("a", action);
        }

        @Override
        public <T> CompletableFuture<T> with(Supplier<CompletableFuture<T>> action, Duration timeout) {
            return mutexes.withLock("a", action, timeout);
        }

        @Override
        public <T> CompletableFuture<T> with(Callable<T> action, Executor executor, Duration timeout) {
            return mutexes.withLock("a", action, executor, timeout);
        }

        @Override
        public int size() {
            return mutexes.size();
        }
    }

    @Test
    void key_isInUseUntilTheStageOfItsActionHasCompleted() {
        for (Scope scope : scopes()) {
            CompletableFuture<String> stage = new CompletableFuture<>();
            CompletableFuture<String> first = scope.with(() -> stage);
            CompletableFuture<String> second = scope.with(() -> CompletableFuture.completedFuture("second"));
            assertTrue(scope.size() > 0);
            assertFalse(second.isDone());
            stage.complete("first");
            assertEquals(List.of("first", "second"), List.of(first.join(), second.join()));
            assertEquals(0, scope.size());
        }
    }

    /** The lease ends with the permit, not with the future: a fresh object beside it would let the next one in. */
    @Test
    void futureCancelledWhileItsActionRuns_keepsTheKeyUntilTheStageHasCompleted() {
        for (Scope scope : scopes()) {
            CompletableFuture<String> stubborn = new CompletableFuture<>() {
                @Override
                public boolean cancel(boolean mayInterruptIfRunning) {
                    return false;
                }
            };
            CompletableFuture<String> first = scope.with(() -> stubborn);
            assertTrue(first.cancel(true));
            AtomicInteger ran = new AtomicInteger();
            CompletableFuture<Integer> second =
                    scope.with(() -> CompletableFuture.completedFuture(ran.incrementAndGet()));
            assertFalse(second.isDone());
            assertTrue(scope.size() > 0);
            stubborn.complete("late");
            assertEquals(1, second.join());
            assertEquals(0, scope.size());
        }
    }

    @Test
    void futureCancelledOrCompletedWhileItWaits_leavesNothing() {
        for (Scope scope : scopes()) {
            CompletableFuture<String> stage = new CompletableFuture<>();
            CompletableFuture<String> first = scope.with(() -> stage);
            CompletableFuture<String> cancelled = scope.with(never());
            CompletableFuture<String> completed = scope.with(never());
            assertTrue(cancelled.cancel(true));
            assertTrue(completed.complete("outside"));
            stage.completeExceptionally(new IOException());
            assertInstanceOf(IOException.class, failureOf(first));
            assertEquals(0, scope.size());
        }
    }

    @Test
    void timeoutThatIsOver_failsAtOnce_andLeavesNothing() {
        for (Scope scope : scopes()) {
            CompletableFuture<String> stage = new CompletableFuture<>();
            CompletableFuture<String> first = scope.with(() -> stage, Duration.ZERO);
            assertInstanceOf(PermitTimeoutException.class, failureOf(scope.with(never(), Duration.ofSeconds(-1))));
            assertInstanceOf(
                    PermitTimeoutException.class, failureOf(scope.with(() -> "ran", Runnable::run, Duration.ZERO)));
            stage.complete("first");
            assertEquals("first", first.join());
            assertEquals("now", scope.with(() -> "now", Runnable::run, LONG).join());
            assertEquals(0, scope.size());
        }
    }

    @Test
    void executorThatRejects_failsTheFuture_andLeavesNothing() {
        Executor rejecting = task -> {
            throw new RejectedExecutionException();
        };
        for (Scope scope : scopes()) {
            assertInstanceOf(RejectedExecutionException.class, failureOf(scope.with(() -> "ran", rejecting, LONG)));
            assertEquals(0, scope.size());
        }
    }

    @Test
    void actionThatThrows_failsTheFuture_andLeavesNothing() {
        for (Scope scope : scopes()) {
            Error error = new AssertionError();
            CompletableFuture<String> failed = scope.with(() -> {
                throw error;
            });
            assertEquals(error, failureOf(failed));
            assertEquals(0, scope.size());
        }
    }

    // ---- semaphores

    @Test
    void semaphores_boundEachKey_andRefuseOneKeyTooMany() throws Exception {
        AsyncSemaphores<String> perHost = AsyncSemaphores.create(2, WaitOrder.FIFO, 1, "hosts");
        CompletableFuture<String> stage = new CompletableFuture<>();
        CompletableFuture<String> both = perHost.withPermits("a", 2, () -> stage);
        CompletableFuture<String> next = perHost.withPermit("a", () -> stage, LONG);
        assertFalse(next.isDone());
        assertInstanceOf(TooManyKeysException.class, failureOf(perHost.withPermit("b", never())));
        assertThrows(TooManyKeysException.class, () -> perHost.blocking().call("b", () -> "ran"));
        assertThrows(PermitTimeoutException.class, () -> perHost.blocking().call("a", Duration.ZERO, () -> "ran"));
        assertThrows(IllegalArgumentException.class, () -> perHost.withPermits("a", 3, never()));
        stage.complete("x");
        assertEquals("x", both.join() + next.join().substring(1));
        assertEquals("b", perHost.blocking().call("b", 2, () -> "b"));
        assertEquals("AsyncSemaphores 'hosts' (permits = 2, size = 0, maxKeys = 1)", perHost.toString());
        assertEquals("Blocking" + perHost.kotlin(), perHost.blocking().toString());
    }

    // ---- mutexes

    @Test
    void withLocks_inOppositeOrders_doNotDeadlock() throws Exception {
        AsyncMutexes<Integer> locks = AsyncMutexes.create();
        AtomicInteger inside = new AtomicInteger();
        List<CompletableFuture<Integer>> all = new ArrayList<>();
        Executor pool = task -> new Thread(task).start();
        for (int i = 0; i < 100; i++) {
            List<Integer> keys = i % 2 == 0 ? List.of(1, 2, 3) : List.of(3, 2, 1);
            all.add(locks.withLocks(
                    keys,
                    () -> {
                        int now = inside.incrementAndGet();
                        Thread.yield();
                        inside.decrementAndGet();
                        return now;
                    },
                    pool));
        }
        for (CompletableFuture<Integer> future : all) assertEquals(1, future.get(2, TimeUnit.MINUTES));
        assertEquals(3, locks.blocking().callWithAll(List.of(3, 1, 3), () -> 3));
        assertEquals(0, locks.size());
    }

    @Test
    void withLocks_withoutAPlaceForAll_failsAndTakesNone() throws Exception {
        AsyncMutexes<Integer> few = AsyncMutexes.create(2, null);
        assertInstanceOf(TooManyKeysException.class, failureOf(few.withLocks(List.of(1, 2, 3), never())));
        assertThrows(TooManyKeysException.class, () -> few.blocking().callWithAll(List.of(1, 2, 3), () -> 1));
        assertEquals(0, few.size());
        assertEquals(
                7,
                few.withLocks(List.of(), () -> CompletableFuture.completedFuture(7))
                        .join());
        assertEquals(7, few.withLocks(List.of(1, 2), () -> 7, Runnable::run).join());
        assertEquals(0, few.size());
    }

    @Test
    void threadThatHoldsAKey_cannotLockItAgain_andAnInterruptHoldsNone() throws Exception {
        AsyncMutexes<String> locks = AsyncMutexes.create();
        assertThrows(
                IllegalStateException.class,
                () -> locks.blocking().call("a", () -> locks.blocking().call("a", () -> "ran")));
        assertEquals(0, locks.size());
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> locks.blocking().callWithAll(List.of("a", "b"), () -> "ran"));
        assertEquals(0, locks.size());
        CompletableFuture<String> stage = new CompletableFuture<>();
        CompletableFuture<String> held = locks.withLock("a", () -> stage);
        assertThrows(PermitTimeoutException.class, () -> locks.blocking().call("a", Duration.ofNanos(1), () -> "ran"));
        stage.complete("end");
        assertEquals("end", await(held));
        assertEquals(0, locks.size());
    }

    // ---- limiters

    @Test
    void limiters_limitEachKey_andNeverGiveAFreshBucketBeyondTheBound() throws Exception {
        AsyncRateLimiters<String> perCustomer = AsyncRateLimiters.create(
                AsyncRateLimiter.builder(1, Duration.ofHours(1))
                        .burst(2)
                        .maxWaiting(1)
                        .name("customers"),
                1);
        assertEquals(
                "a",
                perCustomer
                        .withPermit("a", () -> CompletableFuture.completedFuture("a"))
                        .join());
        assertTrue(perCustomer.tryAcquire("a"));
        assertFalse(perCustomer.tryAcquire("a"));
        CompletableFuture<Void> waiting = perCustomer.acquire("a");
        assertFalse(waiting.isDone());
        assertInstanceOf(PermitTimeoutException.class, failureOf(perCustomer.acquire("a", 1, Duration.ofSeconds(1))));
        assertInstanceOf(PermitTimeoutException.class, failureOf(perCustomer.withPermit("a", never(), Duration.ZERO)));
        assertThrows(
                PermitTimeoutException.class,
                () -> perCustomer.blocking().call("a", Duration.ofSeconds(1), () -> "ran"));
        assertInstanceOf(TooManyKeysException.class, failureOf(perCustomer.withPermit("b", never())));
        assertInstanceOf(TooManyKeysException.class, failureOf(perCustomer.acquire("b")));
        assertThrows(TooManyKeysException.class, () -> perCustomer.tryAcquire("b"));
        assertThrows(TooManyKeysException.class, () -> perCustomer.blocking().acquire("b"));
        assertThrows(IllegalArgumentException.class, () -> perCustomer.acquire("a", 3));
        assertTrue(waiting.cancel(true));
        assertEquals(1, perCustomer.size());
        assertEquals(
                "AsyncRateLimiters 'customers' (1 per 1h, burst = 2, size = 1, maxKeys = 1)", perCustomer.toString());
        AsyncRateLimiter.Builder leaky = AsyncRateLimiter.builder(1, LONG).leaky();
        assertThrows(IllegalArgumentException.class, () -> AsyncRateLimiters.create(leaky));
    }

    // ---- breakers

    @Test
    void breakers_countByKey_andOfferTheirControls() throws Exception {
        AsyncCircuitBreakers<String> perHost = AsyncCircuitBreakers.create(
                AsyncCircuitBreaker.builder().minimumCalls(1).name("hosts"), Duration.ofMinutes(10), 2);
        IOException down = new IOException();
        assertEquals(down, failureOf(perHost.protect("a", () -> CompletableFuture.failedFuture(down))));
        assertEquals(BreakerState.OPEN, perHost.state("a"));
        Throwable refusal = failureOf(perHost.protect("a", never()));
        assertTrue(assertInstanceOf(CircuitOpenException.class, refusal)
                .getMessage()
                .startsWith("CircuitBreaker 'hosts[a]' is open"));
        assertEquals("b", perHost.blocking().call("b", () -> "b"));
        assertInstanceOf(TooManyKeysException.class, failureOf(perHost.protect("c", never())));
        assertThrows(TooManyKeysException.class, () -> perHost.blocking().call("c", () -> "ran"));
        perHost.reset("a");
        perHost.openFor("b", LONG);
        assertEquals(BreakerState.OPEN, perHost.state("b"));
        assertThrows(IllegalArgumentException.class, () -> perHost.openFor("b", Duration.ZERO));
        assertThrows(TooManyKeysException.class, () -> perHost.openFor("c", LONG));
        perHost.reset("b");
        perHost.trip("b");
        perHost.reset("b");
        perHost.disable("b");
        assertEquals(
                List.of(BreakerState.CLOSED, BreakerState.DISABLED), List.of(perHost.state("a"), perHost.state("b")));
        assertEquals(2, perHost.size());
    }

    @Test
    void futureOfABreaker_thatIsCancelled_isOutOfItsKey() {
        AsyncCircuitBreakers<String> perHost =
                AsyncCircuitBreakers.create(AsyncCircuitBreaker.builder(), Duration.ofNanos(1), 1);
        CompletableFuture<String> call = perHost.protect("a", CompletableFuture::new);
        assertInstanceOf(TooManyKeysException.class, failureOf(perHost.protect("b", never())));
        assertTrue(call.cancel(true));
        assertEquals(
                "b",
                perHost.protect("b", () -> CompletableFuture.completedFuture("b"))
                        .join());
    }
}
