package baton.interop.internal.futures;

import baton.bridge.BreakerBridge;
import baton.resilience.CircuitBreaker;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The future of a call that a breaker has let in. The end of the action's stage counts, unless this is completed from
 * outside before: that counts as nothing, and cancels the stage.
 */
public final class ProtectFuture<T extends @Nullable Object> extends RevocableFuture<T>
        implements BiConsumer<@Nullable T, @Nullable Throwable> {
    private static final VarHandle HAS_LEFT = FieldHandle.of(MethodHandles.lookup(), "hasLeft", boolean.class);

    private final CircuitBreaker breaker;
    private final Object call;

    /** When the time of the callee began. */
    private volatile long start;

    /** Null once it has completed, because the future may be kept for its value. */
    private volatile @Nullable CompletionStage<T> running;

    /** Set by the one thread that tells the breaker of the end. */
    private volatile boolean hasLeft;

    private ProtectFuture(CircuitBreaker breaker, Object call, long start) {
        this.breaker = breaker;
        this.call = call;
        this.start = start;
    }

    /** Runs the action, if the breaker lets the call in. */
    public static <T extends @Nullable Object> CompletableFuture<T> run(
            CircuitBreaker breaker, Supplier<? extends CompletionStage<T>> action) {
        return run(breaker, future -> action.get());
    }

    /**
     * As the other, for a call whose time may begin later.
     *
     * @param action gets the future, whose time may begin later, see {@link #restart}
     */
    public static <T extends @Nullable Object> CompletableFuture<T> run(
            CircuitBreaker breaker, Function<? super ProtectFuture<T>, ? extends CompletionStage<T>> action) {
        long start;
        Object call;
        try {
            start = BreakerBridge.start(breaker);
            call = BreakerBridge.enter(breaker, start);
        } catch (Throwable e) {
            return CompletableFuture.failedFuture(e);
        }
        ProtectFuture<T> future = new ProtectFuture<>(breaker, call, start);
        CompletionStage<T> stage;
        try {
            stage = Objects.requireNonNull(action.apply(future), "the action returned null instead of a stage");
        } catch (Throwable e) {
            return CompletableFuture.failedFuture(failed(breaker, call, future.start, e));
        }
        future.running = stage;
        try {
            var unused = stage.whenComplete(future);
        } catch (Throwable e) { // a stage of a broken class, which may have called this all the same
            Stages.cancel(stage);
            future.accept(null, e);
        }
        return future;
    }

    /** The time of the callee begins now, after a wait for permits. */
    public void restart() {
        start = BreakerBridge.restart(breaker);
    }

    /** Tells the breaker of the failure, and returns that of the call. */
    private static Throwable failed(CircuitBreaker breaker, Object call, long start, Throwable failure) {
        Throwable why = Stages.unwrap(failure);
        try {
            BreakerBridge.failed(breaker, call, start, why, true);
            return why;
        } catch (Throwable e) { // of isFailure
            return e;
        }
    }

    private boolean tryLeave() {
        return !hasLeft && HAS_LEFT.compareAndSet(this, false, true);
    }

    /** The stage has completed. */
    @Override
    public void accept(@Nullable T value, @Nullable Throwable failure) {
        if (!tryLeave()) return;
        running = null;
        if (failure != null) {
            endAfterStage(null, failed(breaker, call, start, failure));
            return;
        }
        try {
            BreakerBridge.succeeded(breaker, call, start, value);
        } catch (Throwable e) { // of failureResult; or memory or stack is exhausted
            endAfterStage(null, e);
            return;
        }
        endAfterStage(value, null);
    }

    @Override
    protected void withdraw() {
        if (tryLeave()) BreakerBridge.cancelled(breaker, call, start);
    }

    @Override
    protected void cancelRunning() {
        CompletionStage<T> stage = running;
        if (stage == null) return;
        running = null;
        Stages.cancel(stage);
    }

    @Override
    protected String call() {
        return "protect of " + BreakerBridge.label(breaker);
    }

    @Override
    protected String description() {
        return "protect of " + breaker;
    }
}
