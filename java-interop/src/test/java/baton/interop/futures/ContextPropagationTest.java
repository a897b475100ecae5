package baton.interop.futures;

import static baton.interop.Futures.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncBarrier;
import baton.interop.AsyncChannel;
import baton.interop.AsyncRetry;
import baton.interop.AsyncSemaphore;
import baton.interop.AsyncTaskScheduler;
import baton.interop.CancellableFuture;
import baton.interop.ContextPropagation;
import baton.interop.ContextPropagator;
import baton.interop.Permit;
import baton.interop.Select;
import baton.interop.TaskScope;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300)
class ContextPropagationTest {
    private static final ThreadLocal<String> USER = ThreadLocal.withInitial(() -> "none");

    private static final class UserPropagator implements ContextPropagator<String> {
        @Override
        public String capture() {
            return USER.get();
        }

        @Override
        public Runnable restore(String captured) {
            String before = USER.get();
            USER.set(captured);
            return () -> USER.set(before);
        }
    }

    @BeforeEach
    void enable() {
        ContextPropagation.enable(new UserPropagator());
    }

    @AfterEach
    void disable() {
        ContextPropagation.disable();
        USER.remove();
    }

    private static <T> T as(String user, Supplier<T> call) {
        String before = USER.get();
        USER.set(user);
        try {
            return call.get();
        } finally {
            USER.set(before);
        }
    }

    private static void asReleaser(Runnable call) {
        assertEquals("releaser", as("releaser", () -> {
            call.run();
            return USER.get();
        }));
    }

    @ParameterizedTest
    @MethodSource("baton.interop.futures.WaitKind#requests")
    void dependents_ofARequestThatWaited_seeTheContextOfItsCaller(WaitKind kind) {
        Wait wait = kind.create();
        CompletableFuture<String> seen = as("caller", () -> wait.plain.get().handle((value, e) -> USER.get()));
        asReleaser(wait::grant);
        assertEquals("caller", await(seen));
    }

    /** Each runs code that adds the user of its thread to the list: after the semaphore is released, or at once. */
    private enum Code {
        WITH_PERMIT((semaphore, seen) -> semaphore.withPermit(() -> {
            seen.run();
            return CompletableFuture.completedFuture(1);
        })),
        WITH_PERMIT_ON_AN_EXECUTOR((semaphore, seen) -> semaphore.withPermit(
                () -> {
                    seen.run();
                    return 1;
                },
                Runnable::run)),
        SELECT((semaphore, seen) -> Select.<Integer>first()
                .onAcquire(semaphore, permit -> {
                    seen.run();
                    permit.close();
                    return 1;
                })
                .start()),
        SELECT_ON_AN_EXECUTOR((semaphore, seen) -> Select.<Integer>first()
                .onAcquire(semaphore, permit -> {
                    seen.run();
                    permit.close();
                    return 1;
                })
                .start(ForkJoinPool.commonPool())),
        DEPENDENT_ON_AN_EXECUTOR((semaphore, seen) -> semaphore
                .acquire(1, ForkJoinPool.commonPool())
                .thenAccept(permit -> {
                    seen.run();
                    permit.close();
                })),
        SCHEDULE((semaphore, seen) -> AsyncTaskScheduler.create(1).schedule(Priority.LOW, seen)),
        SCHEDULE_A_STAGE((semaphore, seen) -> AsyncTaskScheduler.create(1).schedule(Priority.LOW, () -> {
            seen.run();
            return CompletableFuture.completedFuture(1);
        })),
        SUPPLY((semaphore, seen) -> CancellableFuture.supply(ForkJoinPool.commonPool(), token -> {
            seen.run();
            return 1;
        }));

        private final BiFunction<AsyncSemaphore, Runnable, CompletableFuture<?>> start;

        Code(BiFunction<AsyncSemaphore, Runnable, CompletableFuture<?>> start) {
            this.start = start;
        }
    }

    @ParameterizedTest
    @EnumSource(Code.class)
    void code_thatRunsLater_seesTheContextOfItsCaller(Code code) {
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        Permit held = semaphore.acquire().join();
        List<String> seen = new ArrayList<>();
        CompletableFuture<?> call = as("caller", () -> code.start.apply(semaphore, () -> seen.add(USER.get())));
        asReleaser(held::close);
        await(call.handle((v, e) -> v));
        assertEquals(List.of("caller"), seen);
        assertEquals("none", USER.get());
    }

    @Test
    void forEach_sentByAnother_seesTheContextOfItsCaller() {
        AsyncChannel<String> channel = AsyncChannel.create(0);
        List<String> seen = new ArrayList<>();
        CompletableFuture<Void> ended = as("caller", () -> channel.forEach(element -> seen.add(USER.get())));
        asReleaser(() -> {
            var unused = channel.send("a");
            channel.close();
        });
        await(ended.handle((v, e) -> v));
        assertEquals(List.of("caller"), seen);
    }

    @Test
    void forEach_endedByAnother_runsDependentsInTheContextOfTheCaller() {
        AsyncChannel<String> closed = AsyncChannel.create(0);
        AsyncChannel<String> failed = AsyncChannel.create(0);
        AsyncChannel<String> channel = AsyncChannel.create(0);
        CompletableFuture<String> stage = new CompletableFuture<>();
        List<CompletableFuture<String>> seen = as(
                "caller",
                () -> List.of(
                        closed.forEach(element -> {}).handle((v, e) -> USER.get()),
                        failed.forEach(element -> {
                                    throw new IllegalStateException();
                                })
                                .handle((v, e) -> USER.get()),
                        channel.forEachAsync(element -> stage).handle((v, e) -> USER.get())));
        asReleaser(() -> {
            closed.close();
            var unused = List.of(failed.send("a"), channel.send("a"));
            stage.completeExceptionally(new IllegalStateException());
        });
        for (CompletableFuture<String> one : seen) assertEquals("caller", await(one));
    }

    @Test
    void timeouts_runDependentsInTheContextOfTheCaller() {
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        try (Permit held = semaphore.acquire().join()) {
            Duration time = Duration.ofMillis(20);
            List<CompletableFuture<String>> seen = as(
                    "caller",
                    () -> List.of(
                            semaphore.acquire(time).handle((p, e) -> USER.get()),
                            semaphore
                                    .acquire()
                                    .orTimeout(20, TimeUnit.MILLISECONDS)
                                    .handle((p, e) -> USER.get()),
                            CancellableFuture.of(semaphore.acquire())
                                    .orTimeout(time)
                                    .handle((p, e) -> USER.get()),
                            CancellableFuture.of(new CompletableFuture<String>())
                                    .completeOnTimeout("late", 20, TimeUnit.MILLISECONDS)
                                    .thenApply(late -> USER.get()),
                            Select.<String>first().onTimeout(time, USER::get).start()));
            for (CompletableFuture<String> one : seen) assertEquals("caller", await(one));
            assertTrue(held.isHeld());
        }
    }

    @Test
    void refusedTask_runsDependentsInTheContextOfTheCaller() {
        AsyncTaskScheduler scheduler = AsyncTaskScheduler.create(1);
        scheduler.pause();
        CompletableFuture<String> seen =
                as("caller", () -> scheduler.schedule(Priority.LOW, () -> 1).handle((value, e) -> USER.get()));
        asReleaser(scheduler::closeNow);
        assertEquals("caller", await(seen));
    }

    @Test
    void barrierWhoseActionSuspends_runsDependentsInTheContextOfTheLastParty() {
        CompletableFuture<String> action = new CompletableFuture<>();
        AsyncBarrier barrier = AsyncBarrier.create(1, () -> action);
        CompletableFuture<String> seen = as("caller", () -> barrier.arrive().handle((index, e) -> USER.get()));
        asReleaser(() -> action.complete("done"));
        assertEquals("caller", await(seen));
    }

    @Test
    void fork_ofAScope_seesTheContextOfItsCaller() {
        Executor pool = ForkJoinPool.commonPool();
        try (TaskScope scope = TaskScope.open(pool)) {
            CancellableFuture<String> seen = as("caller", () -> scope.fork(token -> USER.get()));
            assertEquals("caller", await(seen));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1})
    void retry_runsAttemptsAndFunctionsInTheContextOfItsCaller(long delayMillis) {
        List<CompletableFuture<Integer>> stages = Collections.synchronizedList(new ArrayList<>());
        List<String> seen = Collections.synchronizedList(new ArrayList<>());
        Function<Object, Boolean> see = code -> seen.add(code + " of " + USER.get());
        AsyncRetry retry = AsyncRetry.builder()
                .constant(Duration.ofMillis(delayMillis))
                .jitter(0)
                .retryIf(e -> see.apply("retryIf"))
                .retryAfter(e -> see.apply("retryAfter") ? Optional.empty() : Optional.of(Duration.ZERO))
                .onRetry(attempt -> see.apply("onRetry"))
                .build();
        CompletableFuture<Boolean> end = as(
                "caller",
                () -> retry.call(
                                () -> {
                                    see.apply("action");
                                    stages.add(new CompletableFuture<>());
                                    return stages.get(stages.size() - 1);
                                },
                                result -> see.apply("retryResult"),
                                result -> see.apply("resultRetryAfter") ? Optional.empty() : Optional.of(Duration.ZERO))
                        .handle((value, e) -> see.apply("dependent")));
        asReleaser(() -> stages.get(0).completeExceptionally(new IllegalStateException()));
        while (stages.size() < 2) Thread.onSpinWait();
        asReleaser(() -> stages.get(1).complete(1));
        while (stages.size() < 3) Thread.onSpinWait();
        asReleaser(() -> stages.get(2).complete(1));
        await(end);
        List<String> codes = List.of(
                "action",
                "retryIf",
                "retryAfter",
                "onRetry",
                "action",
                "retryResult",
                "resultRetryAfter",
                "onRetry",
                "action",
                "retryResult",
                "dependent");
        assertEquals(codes.stream().map(code -> code + " of caller").toList(), seen);
    }

    @Test
    void disabled_nothingIsCarried() {
        ContextPropagation.disable();
        AsyncSemaphore semaphore = AsyncSemaphore.create(1);
        Permit held = semaphore.acquire().join();
        CompletableFuture<String> seen = as("caller", () -> semaphore.acquire().handle((p, e) -> USER.get()));
        asReleaser(held::close);
        assertEquals("releaser", await(seen));
    }
}
