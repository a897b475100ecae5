package baton.interop.internal.futures;

import baton.waiting.WaitCore;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Requests that wait for a count of zero, of a latch or of a wait group. */
public final class Countdown {
    private final WaitCore core;
    private final IntSupplier count;

    public Countdown(WaitCore core, IntSupplier count) {
        this.core = core;
        this.count = count;
    }

    /** The executor completes a future that had to wait; null for the thread that brings the count to zero. */
    public CompletableFuture<@Nullable Void> await(@Nullable Executor executor) {
        if (count.getAsInt() == 0) return CompletableFuture.completedFuture(null);
        return WaiterFuture.enqueue(core, 1, null, null, executor, null, null);
    }

    /** Fails with a {@link TimeoutException} with the message {@code unmet} once the timeout has passed. */
    public CompletableFuture<@Nullable Void> await(Duration timeout, Supplier<String> unmet) {
        Objects.requireNonNull(timeout, "timeout");
        if (count.getAsInt() == 0) return CompletableFuture.completedFuture(null);
        return WaiterFuture.enqueue(core, 1, null, null, null, timeout, () -> new TimeoutException(unmet.get()));
    }
}
