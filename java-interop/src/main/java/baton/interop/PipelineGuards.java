package baton.interop;

import baton.bridge.PipelineLayers;
import baton.interop.internal.futures.PipelineFuture;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The permits of a pipeline, for its futures and for its threads. */
final class PipelineGuards implements PipelineFuture.Guards {
    private final @Nullable AsyncRateLimiter limiter;
    private final @Nullable AsyncSemaphore semaphore;
    private final @Nullable Duration maxWait;

    PipelineGuards(PipelineLayers layers) {
        limiter = layers.limiter == null ? null : AsyncRateLimiter.of(layers.limiter);
        semaphore = layers.semaphore == null ? null : AsyncSemaphore.of(layers.semaphore);
        maxWait = layers.maxWait;
    }

    @Override
    public CompletableFuture<Permit> limiter(boolean now) {
        return Objects.requireNonNull(limiter).permit(now ? Duration.ZERO : maxWait);
    }

    @Override
    public CompletableFuture<Permit> semaphore(boolean now) {
        AsyncSemaphore permits = Objects.requireNonNull(semaphore);
        Duration wait = now ? Duration.ZERO : maxWait;
        return wait == null ? permits.acquire() : permits.acquire(wait);
    }

    /** Runs the action on this thread with a permit of each. */
    <T extends @Nullable Object> T call(boolean now, Callable<T> action) throws Exception {
        Duration wait = now ? Duration.ZERO : maxWait;
        if (limiter != null) takeTurn(limiter.blocking(), wait);
        if (semaphore == null) return action.call();
        BlockingSemaphore permits = semaphore.blocking();
        return wait == null ? permits.call(action) : permits.call(wait, action);
    }

    private static void takeTurn(BlockingRateLimiter limiter, @Nullable Duration wait) throws Exception {
        if (wait == null) limiter.acquire();
        else limiter.acquire(wait);
    }
}
