package baton.interop.stack;

import static baton.interop.Futures.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import baton.Priority;
import baton.interop.AsyncCircuitBreaker;
import baton.interop.AsyncMutexes;
import baton.interop.AsyncPipeline;
import baton.interop.AsyncRateLimiter;
import baton.interop.AsyncRetry;
import baton.interop.AsyncSemaphore;
import baton.interop.AsyncSingleFlight;
import baton.interop.AsyncTaskScheduler;
import baton.interop.Futures;
import baton.interop.internal.futures.Stages;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many calls, the action of each of which waits for the future of the call before it. Runs with a small stack. */
class FutureChainStackTest {
    private static final int MANY = 5_000;
    private static final AsyncSemaphore SEMAPHORE = AsyncSemaphore.create(MANY);
    private static final AsyncRateLimiter LIMITER = AsyncRateLimiter.builder(1_000_000, Duration.ofMillis(1))
            .burst(1_000_000)
            .build();
    private static final AsyncCircuitBreaker BREAKER =
            AsyncCircuitBreaker.builder().ignoreIf(e -> true).build();
    private static final AsyncRetry RETRY = AsyncRetry.builder().maxAttempts(1).build();
    private static final AsyncMutexes<Integer> MUTEXES = AsyncMutexes.create();
    private static final AsyncSingleFlight<Integer, Integer> FLIGHTS = AsyncSingleFlight.create();
    private static final AsyncTaskScheduler TASKS = AsyncTaskScheduler.create(MANY);
    private static final AsyncPipeline WHOLE = AsyncPipeline.builder("whole")
            .breaker(BREAKER)
            .limiter(LIMITER)
            .semaphore(SEMAPHORE)
            .attemptTimeout(Duration.ofMinutes(5))
            .build();
    private static final AsyncPipeline HEDGED =
            AsyncPipeline.builder("hedged").hedge(Duration.ofMinutes(5), 2).build();
    private static final AtomicInteger KEYS = new AtomicInteger();

    /** A call whose stage ends when that of its action does. */
    private interface Call extends Function<Supplier<CompletionStage<Integer>>, CompletableFuture<Integer>> {}

    enum Link {
        SEMAPHORE_CALL(SEMAPHORE::withPermit),
        LIMITER_CALL(LIMITER::withPermit),
        MUTEX_BY_KEY(action -> MUTEXES.withLock(KEYS.incrementAndGet(), action)),
        ALL_MUTEXES(action -> MUTEXES.withLocks(List.of(KEYS.incrementAndGet(), KEYS.incrementAndGet()), action)),
        BREAKER_CALL(BREAKER::protect),
        RETRY_CALL(RETRY::call),
        FLIGHT(action -> FLIGHTS.run(KEYS.incrementAndGet(), action)),
        TASK(action -> TASKS.schedule(Priority.NORMAL, action)),
        PIPELINE(WHOLE::call),
        PIPELINE_WITH_FALLBACK(action -> WHOLE.call(action, CompletableFuture::failedFuture)),
        HEDGED_PIPELINE(HEDGED::call);

        private final Call call;

        Link(Call call) {
            this.call = call;
        }
    }

    private static CompletableFuture<Integer> chain(Link link, CompletableFuture<Integer> first) {
        CompletableFuture<Integer> last = first;
        for (int i = 0; i < MANY; i++) {
            CompletableFuture<Integer> before = last;
            last = link.call.apply(() -> before);
        }
        return last;
    }

    @ParameterizedTest
    @EnumSource
    void chain_whoseFirstStageSucceeds_reachesTheEnd(Link link) {
        CompletableFuture<Integer> first = new CompletableFuture<>();
        CompletableFuture<Integer> last = chain(link, first);
        first.complete(1);
        assertEquals(1, await(last));
    }

    @ParameterizedTest
    @EnumSource
    void chain_whoseFirstStageFails_reachesTheEnd(Link link) {
        CompletableFuture<Integer> first = new CompletableFuture<>();
        CompletableFuture<Integer> last = chain(link, first);
        IllegalArgumentException failure = new IllegalArgumentException("of the first stage");
        first.completeExceptionally(failure);
        assertSame(failure, Stages.unwrap(Futures.awaitFailure(last)));
        assertEquals(MANY, SEMAPHORE.availablePermits());
    }
}
