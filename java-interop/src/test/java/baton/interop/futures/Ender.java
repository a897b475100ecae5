package baton.interop.futures;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The ways to end a future from outside. */
public enum Ender {
    CANCEL(f -> f.cancel(true), CancellationException.class),
    CANCEL_WITHOUT_INTERRUPT(f -> f.cancel(false), CancellationException.class),
    COMPLETE(f -> f.complete(Outside.VALUE), null),
    COMPLETE_EXCEPTIONALLY(f -> f.completeExceptionally(new Outside()), Outside.class),
    OR_TIMEOUT(f -> f.orTimeout(1, TimeUnit.NANOSECONDS), TimeoutException.class),
    COMPLETE_ON_TIMEOUT(f -> f.completeOnTimeout(Outside.VALUE, 1, TimeUnit.NANOSECONDS), null),
    COMPLETE_ASYNC(f -> f.completeAsync(() -> Outside.VALUE), null),
    COMPLETE_ASYNC_HERE(f -> f.completeAsync(() -> Outside.VALUE, Runnable::run), null),
    COMPLETE_ASYNC_FAILING(f -> f.completeAsync(Outside.thrown()), CompletionException.class),
    OBTRUDE_VALUE(
            f -> {
                f.obtrudeValue(Outside.VALUE);
                return f;
            },
            null),
    OBTRUDE_EXCEPTION(
            f -> {
                f.obtrudeException(new Outside());
                return f;
            },
            Outside.class);

    private final Function<CompletableFuture<Object>, Object> call;
    /** The type of the failure of a future that was not done, or null. */
    public final @Nullable Class<? extends Throwable> failure;

    Ender(Function<CompletableFuture<Object>, Object> call, @Nullable Class<? extends Throwable> failure) {
        this.call = call;
        this.failure = failure;
    }

    /** The failure of a completion from outside, and its value. */
    public static final class Outside extends RuntimeException {
        private static final long serialVersionUID = 1;

        /** The value of the futures that are completed with one. */
        static final Object VALUE = "outside";

        static Supplier<Object> thrown() {
            return () -> {
                throw new Outside();
            };
        }
    }

    /** Ends the future. Returns the result of the call: a boolean, or the future. */
    @SuppressWarnings("unchecked") // no code depends on the type of the value
    public Object end(CompletableFuture<?> future) {
        return call.apply((CompletableFuture<Object>) future);
    }

    public boolean isCancel() {
        return failure == CancellationException.class;
    }

    public boolean obtrudes() {
        return this == OBTRUDE_VALUE || this == OBTRUDE_EXCEPTION;
    }
}
