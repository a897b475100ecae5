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

    enum Link {
        SEMAPHORE_CALL {
            @Override
            CompletableFuture<Integer> add(Supplier<CompletionStage<Integer>> action) {
                return SEMAPHORE.withPermit(action);
            }
        },
        LIMITER_CALL {
            @Override
            CompletableFuture<Integer> add(Supplier<CompletionStage<Integer>> action) {
                return LIMITER.withPermit(action);
            }
        },
        MUTEX_BY_KEY {
            @Override
            CompletableFuture<Integer> add(Supplier<CompletionStage<Integer>> action) {
                return MUTEXES.withLock(KEYS.incrementAndGet(), action);
            }
        },
        ALL_MUTEXES {
            @Override
            CompletableFuture<Integer> add(Supplier<CompletionStage<Integer>> action) {
                List<Integer> keys = List.of(KEYS.incrementAndGet(), KEYS.incrementAndGet());
                return MUTEXES.withLocks(keys, action);
            }
        },
        BREAKER_CALL {
            @Override
            CompletableFuture<Integer> add(Supplier<CompletionStage<Integer>> action) {
                return BREAKER.protect(action);
            }
        },
        RETRY_CALL {
            @Override
            CompletableFuture<Integer> add(Supplier<CompletionStage<Integer>> action) {
                return RETRY.call(action);
            }
        },
        FLIGHT {
            @Override
            CompletableFuture<Integer> add(Supplier<CompletionStage<Integer>> action) {
                return FLIGHTS.run(KEYS.incrementAndGet(), action);
            }
        },
        TASK {
            @Override
            CompletableFuture<Integer> add(Supplier<CompletionStage<Integer>> action) {
                return TASKS.schedule(Priority.NORMAL, action);
            }
        },
        PIPELINE {
            @Override
            CompletableFuture<Integer> add(Supplier<CompletionStage<Integer>> action) {
                return WHOLE.call(action);
            }
        },
        PIPELINE_WITH_FALLBACK {
            @Override
            CompletableFuture<Integer> add(Supplier<CompletionStage<Integer>> action) {
                return WHOLE.call(action, CompletableFuture::failedFuture);
            }
        },
        HEDGED_PIPELINE {
            @Override
            CompletableFuture<Integer> add(Supplier<CompletionStage<Integer>> action) {
                return HEDGED.call(action);
            }
        };

        abstract CompletableFuture<Integer> add(Supplier<CompletionStage<Integer>> action);
    }

    private static CompletableFuture<Integer> chain(Link link, CompletableFuture<Integer> first) {
        CompletableFuture<Integer> last = first;
        for (int i = 0; i < MANY; i++) {
            CompletableFuture<Integer> before = last;
            last = link.add(() -> before);
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
