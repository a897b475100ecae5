package baton.interop.internal.futures;

import baton.distributed.Lease;
import baton.distributed.LeaseLostException;
import baton.distributed.bridge.LeaseCalls;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The requests of futures at a distributed semaphore or mutex. */
public final class LeaseRequests {
    private final LeaseCalls calls;
    private final String call;
    private final Object primitive;

    /** @param call the name of a request, for messages */
    public LeaseRequests(LeaseCalls calls, String call, Object primitive) {
        this.calls = calls;
        this.call = call;
        this.primitive = primitive;
    }

    public CompletableFuture<Lease> acquire(int permits, @Nullable Duration timeout) {
        calls.require(permits);
        return JobFuture.start(call, primitive, true, done -> calls.acquire(permits, timeout, done));
    }

    /** A lease that comes after the future was completed from outside is released. */
    public CompletableFuture<Optional<Lease>> tryAcquire(int permits) {
        calls.require(permits);
        return JobFuture.start(
                call,
                primitive,
                true,
                done -> calls.tryAcquire(
                        permits, (lease, e) -> done.accept(e == null ? Optional.ofNullable(lease) : null, e)));
    }

    public <T extends @Nullable Object> CompletableFuture<T> with(
            int permits, @Nullable Duration timeout, Function<? super Lease, ? extends CompletionStage<T>> action) {
        Objects.requireNonNull(action, "action");
        calls.require(permits);
        Function<? super Lease, ? extends CompletionStage<T>> inContext = CallerContext.function(action);
        return JobFuture.start(
                call, primitive, false, done -> calls.with(permits, timeout, inContext, Stages::cancel, done));
    }

    public static <T extends @Nullable Object> Function<Lease, CompletionStage<T>> ofSupplier(
            Supplier<? extends CompletionStage<T>> action) {
        Objects.requireNonNull(action, "action");
        return lease -> action.get();
    }

    /** Runs the action of a thread, and releases the lease. */
    public static <T extends @Nullable Object> T callHolding(Lease held, Callable<T> action) throws Exception {
        try (held) {
            T value = action.call();
            throwIfLost(held);
            return value;
        }
    }

    private static void throwIfLost(Lease lease) {
        if (lease.isHeld()) return;
        try {
            lease.check();
        } catch (LeaseLostException e) {
            throw e;
        } catch (IllegalStateException e) {
            // The action has released it.
        }
    }
}
