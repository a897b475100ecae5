package baton.interop.internal.futures;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import kotlinx.coroutines.DisposableHandle;
import org.jspecify.annotations.Nullable;

/**
 * A future behind which a request stands. Every way in which somebody may complete it from outside withdraws the
 * request first, so that nobody sees it completed while the request is still in the queue (but for the moment in which
 * another thread is just withdrawing it). It is completed whatever the withdrawal throws.
 */
public abstract class RevocableFuture<T extends @Nullable Object> extends CompletableFuture<T> {
    /** Takes the request back if it is still open. If it was decided already, this future is completed with that. */
    public abstract void withdraw();

    /** Completes it from inside. False when somebody else has completed it. */
    public final boolean succeed(@Nullable T value) {
        return super.complete(value);
    }

    /** Completes it from inside. */
    public final void fail(Throwable why) {
        super.completeExceptionally(why);
    }

    /** It was cancelled just now, not completed in another way: cancels what runs for it. */
    protected void cancelRunning() {}

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

    /** CompletableFuture's own would withdraw, and run the dependents, on the one thread of its timers. */
    @Override
    public final CompletableFuture<T> orTimeout(long timeout, TimeUnit unit) {
        Duration limit = Timeout.of(timeout, unit);
        return after(limit, () -> completeExceptionally(new TimeoutException("not done within " + limit)));
    }

    /** As {@link #orTimeout}. */
    @Override
    public final CompletableFuture<T> completeOnTimeout(T value, long timeout, TimeUnit unit) {
        return after(Timeout.of(timeout, unit), () -> complete(value));
    }

    private CompletableFuture<T> after(Duration timeout, Runnable end) {
        DisposableHandle timer = Timeout.start(this, timeout, end);
        if (timer != null) {
            var unused = super.whenComplete((value, e) -> timer.dispose());
        }
        return this;
    }

    /** CompletableFuture's own would complete this past {@link #complete}. */
    @Override
    public final CompletableFuture<T> completeAsync(Supplier<? extends T> supplier, Executor executor) {
        CallbackExecutor.completeAsync(this, supplier, executor);
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
