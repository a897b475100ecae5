package baton.interop.internal.futures;

import baton.bridge.Durations;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import kotlinx.coroutines.DisposableHandle;
import org.jspecify.annotations.Nullable;

/**
 * A future of a queued request. Each method that completes it from outside withdraws the request first, so no thread
 * sees the future completed while its request is still in the queue. The exception is the moment in which another
 * thread is withdrawing the request. The future is completed even if the withdrawal throws.
 */
public abstract class RevocableFuture<T extends @Nullable Object> extends CompletableFuture<T> {
    /** Takes the request back if it is undecided. Otherwise completes this future as the request was decided. */
    protected abstract void withdraw();

    /** Completes this from inside; false if it was completed before. */
    protected final boolean succeed(@Nullable T value) {
        return super.complete(value);
    }

    /** Completes this from inside with a failure. */
    protected final void fail(Throwable why) {
        super.completeExceptionally(why);
    }

    /**
     * Completes this at the end of a stage. That stage may be the future of another such call, and so on: the stack of a
     * long chain of them stays flat.
     */
    protected final void endAfterStage(@Nullable T value, @Nullable Throwable failure) {
        CallbackExecutor.complete(this, () -> {
            if (failure == null) succeed(value);
            else fail(failure);
        });
    }

    /** Cancels the stage or job that runs for this. Called after this was cancelled, or completed from outside. */
    protected void cancelRunning() {}

    /** The call behind this, in messages; null leaves a cancel without a message, as in CompletableFuture. */
    protected @Nullable String call() {
        return null;
    }

    /** The call behind this, with the state of the primitive at which it waits. */
    protected abstract String description();

    /** The call behind this with the state of its primitive, and the end if there is one. */
    @Override
    public String toString() {
        return description() + Stages.endOf(this);
    }

    /** Adds to the failure the place where this began to wait, if that is known. */
    protected <E extends Throwable> E traced(E failure) {
        return failure;
    }

    /** Called when a method other than {@link #cancel} has completed this from outside. */
    protected void completedFromOutside() {
        cancelRunning();
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        boolean wasDone = isDone();
        boolean cancelled;
        try {
            withdraw();
        } finally {
            cancelled = endCancelled();
        }
        if (cancelled && !wasDone) cancelRunning();
        return cancelled;
    }

    private boolean endCancelled() {
        if (isDone()) return isCancelled();
        String call = call();
        String message = call == null ? null : call + " was cancelled";
        return super.completeExceptionally(traced(new UntracedCancellationException(message))) || isCancelled();
    }

    @Override
    public boolean complete(T value) {
        return endFromOutside(() -> super.complete(value));
    }

    @Override
    public boolean completeExceptionally(Throwable cause) {
        Objects.requireNonNull(cause, "cause");
        return endFromOutside(() -> super.completeExceptionally(cause));
    }

    private boolean endFromOutside(BooleanSupplier completion) {
        boolean completed;
        try {
            withdraw();
        } finally {
            completed = completion.getAsBoolean();
        }
        if (completed) completedFromOutside();
        return completed;
    }

    /**
     * CompletableFuture's own would withdraw the request and run the dependents on its only timer thread. Without a
     * thread for the timer this fails: if the call threw, no caller would have what the request may still get.
     */
    @Override
    public CompletableFuture<T> orTimeout(long timeout, TimeUnit unit) {
        Duration limit = Timeout.of(timeout, unit);
        return after(limit, () -> endLate(limit));
    }

    /** As {@link #orTimeout}. */
    @Override
    public CompletableFuture<T> completeOnTimeout(T value, long timeout, TimeUnit unit) {
        return after(Timeout.of(timeout, unit), () -> complete(value));
    }

    private void endLate(Duration limit) {
        if (!isDone())
            completeExceptionally(traced(new TimeoutException("not done within " + Durations.textOf(limit))));
    }

    private CompletableFuture<T> after(Duration timeout, Runnable end) {
        Runnable late = CallerContext.runnable(end);
        try {
            DisposableHandle timer = Timeout.start(this, timeout, late);
            if (timer != null) {
                var unused = super.whenComplete((value, e) -> timer.dispose());
            }
        } catch (Throwable e) {
            completeExceptionally(e);
        }
        return this;
    }

    /** CompletableFuture's own would bypass {@link #complete}, and so the withdrawal. */
    @Override
    public CompletableFuture<T> completeAsync(Supplier<? extends T> supplier, Executor executor) {
        CallbackExecutor.completeAsync(this, supplier, executor);
        return this;
    }

    @Override
    public CompletableFuture<T> completeAsync(Supplier<? extends T> supplier) {
        return completeAsync(supplier, defaultExecutor());
    }

    @Override
    public void obtrudeValue(T value) {
        obtrude(() -> super.obtrudeValue(value));
    }

    @Override
    public void obtrudeException(Throwable cause) {
        Objects.requireNonNull(cause, "cause");
        obtrude(() -> super.obtrudeException(cause));
    }

    private void obtrude(Runnable completion) {
        boolean wasDone = isDone();
        var unused = endFromOutside(() -> {
            completion.run();
            return !wasDone;
        });
    }

    /** Dependent stages are ordinary futures: to cancel them withdraws nothing. */
    @Override
    public <U extends @Nullable Object> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}
