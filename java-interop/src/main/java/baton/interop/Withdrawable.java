package baton.interop;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A future behind which a request stands. Every way in which somebody may complete it from outside withdraws the
 * request first, so that nobody sees it completed while the request is still in the queue (but for the moment in which
 * another thread is just withdrawing it). It is completed whatever the withdrawal throws. {@code orTimeout} and
 * {@code completeOnTimeout} go through the methods here.
 */
abstract class Withdrawable<T extends @Nullable Object> extends CompletableFuture<T> {
    /** Takes the request back if it is still open. If it was decided already, this future is completed with that. */
    abstract void withdraw();

    /** Completes it from inside. False when somebody else has completed it. */
    final boolean succeed(@Nullable T value) {
        return super.complete(value);
    }

    /** Completes it from inside. */
    final void fail(Throwable why) {
        super.completeExceptionally(why);
    }

    /** It was cancelled just now, not completed in another way: cancels what runs for it. */
    void cancelRunning() {}

    @Override
    public final boolean cancel(boolean mayInterruptIfRunning) {
        boolean wasDone = isDone();
        boolean cancelled;
        try {
            withdraw();
        } finally {
            cancelled = super.cancel(mayInterruptIfRunning);
        }
        if (cancelled && !wasDone) cancelRunning();
        return cancelled;
    }

    @Override
    public final boolean complete(T value) {
        boolean completed;
        try {
            withdraw();
        } finally {
            completed = super.complete(value);
        }
        return completed;
    }

    @Override
    public final boolean completeExceptionally(Throwable cause) {
        Objects.requireNonNull(cause, "cause");
        boolean completed;
        try {
            withdraw();
        } finally {
            completed = super.completeExceptionally(cause);
        }
        return completed;
    }

    /** CompletableFuture's own would complete this past {@link #complete}. */
    @Override
    public final CompletableFuture<T> completeAsync(Supplier<? extends T> supplier, Executor executor) {
        Callbacks.completeAsync(this, supplier, executor);
        return this;
    }

    @Override
    public final CompletableFuture<T> completeAsync(Supplier<? extends T> supplier) {
        return completeAsync(supplier, defaultExecutor());
    }

    @Override
    public final void obtrudeValue(T value) {
        try {
            withdraw();
        } finally {
            super.obtrudeValue(value);
        }
    }

    @Override
    public final void obtrudeException(Throwable cause) {
        Objects.requireNonNull(cause, "cause");
        try {
            withdraw();
        } finally {
            super.obtrudeException(cause);
        }
    }

    /** Dependent stages are ordinary futures: cancelling them withdraws nothing. */
    @Override
    public <U extends @Nullable Object> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}
