package baton.interop;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A future behind which a request stands. Every way in which somebody may complete it from outside withdraws the request
 * first, so that nobody sees it completed while the request is still in the queue. {@code orTimeout} and
 * {@code completeOnTimeout} go through the methods here.
 */
abstract class Withdrawable<T extends @Nullable Object> extends CompletableFuture<T> {
    /** Takes the request back if it is still open. If it was decided already, this future is completed with that. */
    abstract void withdraw();

    /** Completes it from inside. */
    final void succeed(@Nullable T value) {
        super.complete(value);
    }

    /** Completes it from inside. */
    final void fail(Throwable why) {
        super.completeExceptionally(why);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        withdraw();
        return super.cancel(mayInterruptIfRunning);
    }

    @Override
    public final boolean complete(T value) {
        withdraw();
        return super.complete(value);
    }

    @Override
    public final boolean completeExceptionally(Throwable cause) {
        Objects.requireNonNull(cause, "cause");
        withdraw();
        return super.completeExceptionally(cause);
    }

    /** CompletableFuture's own would complete this past {@link #complete}. */
    @Override
    public final CompletableFuture<T> completeAsync(Supplier<? extends T> supplier, Executor executor) {
        Objects.requireNonNull(supplier, "supplier");
        Objects.requireNonNull(executor, "executor");
        executor.execute(() -> {
            try {
                if (!isDone()) complete(supplier.get());
            } catch (Throwable e) {
                completeExceptionally(e);
            }
        });
        return this;
    }

    @Override
    public final CompletableFuture<T> completeAsync(Supplier<? extends T> supplier) {
        return completeAsync(supplier, defaultExecutor());
    }

    @Override
    public final void obtrudeValue(T value) {
        withdraw();
        super.obtrudeValue(value);
    }

    @Override
    public final void obtrudeException(Throwable cause) {
        Objects.requireNonNull(cause, "cause");
        withdraw();
        super.obtrudeException(cause);
    }

    /** Dependent stages are ordinary futures: cancelling them withdraws nothing. */
    @Override
    public final <U extends @Nullable Object> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}
