package baton.interop;

import baton.bridge.Durations;
import baton.interop.internal.cancel.CancellableWork;
import baton.interop.internal.cancel.TaskGroup;
import baton.interop.internal.futures.CallbackExecutor;
import baton.interop.internal.futures.CallerContext;
import baton.interop.internal.futures.Stages;
import baton.interop.internal.futures.Timeout;
import baton.interop.internal.futures.UntracedCancellationException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import kotlinx.coroutines.DisposableHandle;
import org.jspecify.annotations.Nullable;

/**
 * A {@link CompletableFuture} whose cancel reaches the work behind it. {@link #supply}, {@link #run} and {@link #of}
 * start a chain. Every stage derived from it ({@code thenApply}, {@code handle}, {@code thenCombine}, …) is a
 * CancellableFuture too, and cancelling the stage propagates up the chain to its first future.
 *
 * <pre>{@code
 * CancellableFuture<Page> page = CancellableFuture.supply(pool, token -> {
 *     token.onCancel(connection::abort);
 *     return connection.load();
 * });
 * CancellableFuture<String> title = page.thenApply(Page::title);
 * title.cancel(true); // aborts the connection: no other stage wants the page
 * }</pre>
 *
 * <p><i>Waiting.</i> No method of its own blocks. A cancelled future is done at once, as in CompletableFuture; {@link
 * #terminated} completes when the function and its teardowns have really ended.
 *
 * <p><i>Cancellation.</i> A future is cancelled by its own {@code cancel}, or once all stages derived from it have been
 * cancelled. A stage that was derived only to observe the future counts too. A stage with two sources ({@code
 * thenCombine}, {@code applyToEither}) passes its cancel to both. A stage made by {@code thenCompose} or {@code
 * exceptionallyCompose} passes its cancel to the stage that its function returns, even if the function returns after
 * the cancel. A source that is not a CancellableFuture is cancelled by its own {@code cancel}. Stages that other
 * futures derive from this one ({@code CompletableFuture.allOf}, or {@code thenCombine} of a plain one) do not count.
 * {@code copy} and {@code minimalCompletionStage} count for ever; cancelling one of them cancels nothing here.
 *
 * <p>The slower source of {@code applyToEither} and the like continues when the faster one has completed: it may have
 * other dependents, as with CompletableFuture. The stage no longer counts as its dependent. To stop the slower source,
 * cancel it in a dependent of the stage.
 *
 * <p>All futures that one cancel reaches fail with one {@link CancellationException}; its cause is the given reason. On
 * newer JDKs (on 25, not on 17) {@code join}, {@code get} and {@code getNow} wrap it in another CancellationException,
 * so the reason is one level deeper there; {@code handle} and {@code exceptionally} see the same on all JDKs.
 *
 * <p>Completing a future from outside ({@code complete}, {@code completeExceptionally}, {@code completeAsync}, {@code
 * obtrude…}, {@code orTimeout}, {@code completeOnTimeout}) sets that outcome, and ends the work as a cancel would. The
 * flag of {@code cancel(boolean)} has no effect; see {@link CancellationToken#interruptible}. A call that is too late
 * changes nothing and finds the future done. The only exception is the moment in which another thread is cancelling the
 * future through its derived stages: then the future may not be done yet.
 *
 * <p><i>Callbacks</i> run on the thread on which CompletableFuture runs them, teardowns on the thread that {@link
 * CancellationToken} specifies; neither runs under a lock. A callback that blocks delays the teardowns that follow it.
 * After a timeout both run on a thread of Baton's own, {@code baton-callbacks-…}. Timeouts are rounded up to whole
 * milliseconds.
 *
 * <p><i>Memory.</i> As for CompletableFuture. A stage does not keep its sources alive.
 *
 * @param <T> the type of the value
 */
public final class CancellableFuture<T extends @Nullable Object> extends BinaryStages<T> {
    private CancellableFuture(@Nullable CancellableWork work) {
        super(work);
    }

    /** The future of a function that is not submitted yet; {@link #start} submits it to an executor. */
    static <T extends @Nullable Object> CancellableFuture<T> prepare(
            CancellableFunction<? extends T> function, @Nullable TaskGroup group) {
        CancellableWork work = new CancellableWork(group);
        CancellableFuture<T> future = new CancellableFuture<>(work);
        future.setFunction(Objects.requireNonNull(function, "function"), new CancellationToken(work));
        return future;
    }

    void start(Executor executor) {
        startFunction(executor);
    }

    /**
     * Runs the function on the executor. The future completes with the function's value, or fails with the exception
     * that the function or the executor throws. If the future is cancelled before the function begins, the function
     * never runs, and the submitted task no longer refers to it.
     */
    public static <T extends @Nullable Object> CancellableFuture<T> supply(
            Executor executor, CancellableFunction<? extends T> function) {
        Objects.requireNonNull(executor, "executor");
        CancellableFuture<T> future = prepare(function, null);
        future.start(executor);
        return future;
    }

    /** As {@link #supply}, for an action without a value. */
    @SuppressWarnings("NullAway") // NullAway does not know that a Void may be null
    public static CancellableFuture<@Nullable Void> run(Executor executor, CancellableAction action) {
        Objects.requireNonNull(action, "action");
        return supply(executor, token -> {
            action.run(token);
            return null;
        });
    }

    /**
     * A future that completes as the stage does, and whose cancel cancels the stage. For example, cancelling the future
     * of a stage of {@code HttpClient.sendAsync} aborts the exchange. A stage that cannot be cancelled ends by itself;
     * until then the future is not {@link #terminated}. A CancellableFuture is returned as it is.
     *
     * <p>If the stage is a request of Baton's own, such as {@code AsyncSemaphore.acquire()}, then a completion from
     * outside first withdraws the request: the future is completed only after the request has left its queue. If the
     * request was granted before, the future completes with the grant. A stage derived from this future that is ended
     * at the moment of the grant may miss the permit: the stage's function has not run, and this future keeps the
     * value. Use {@code withPermit} for permits that must not be lost.
     */
    public static <T extends @Nullable Object> CancellableFuture<T> of(CompletionStage<T> stage) {
        Objects.requireNonNull(stage, "stage");
        if (stage instanceof CancellableFuture<T> already) return already;
        CancellableFuture<T> future = new CancellableFuture<>(new CancellableWork(null));
        future.follow(stage);
        return future;
    }

    /** As {@link #supply}, for a supplier without a token, on the common pool. Hides CompletableFuture's own. */
    public static <U extends @Nullable Object> CancellableFuture<U> supplyAsync(Supplier<U> supplier) {
        return supplyAsync(supplier, AsyncTaskSchedulerBuilder.defaultExecutor());
    }

    /** As {@link #supplyAsync(Supplier)}, on {@code executor}. */
    public static <U extends @Nullable Object> CancellableFuture<U> supplyAsync(
            Supplier<U> supplier, Executor executor) {
        Objects.requireNonNull(supplier, "supplier");
        return supply(executor, token -> supplier.get());
    }

    /** As {@link #run}, for an action without a token, on the common pool. Hides CompletableFuture's own. */
    public static CancellableFuture<@Nullable Void> runAsync(Runnable action) {
        return runAsync(action, AsyncTaskSchedulerBuilder.defaultExecutor());
    }

    /** As {@link #runAsync(Runnable)}, on {@code executor}. */
    public static CancellableFuture<@Nullable Void> runAsync(Runnable action, Executor executor) {
        Objects.requireNonNull(action, "action");
        return run(executor, token -> action.run());
    }

    /** A future that has completed with the value. Hides CompletableFuture's own. */
    public static <U extends @Nullable Object> CancellableFuture<U> completedFuture(U value) {
        return of(CompletableFuture.completedFuture(value));
    }

    /** A future that has failed. Hides CompletableFuture's own. */
    public static <U extends @Nullable Object> CancellableFuture<U> failedFuture(Throwable failure) {
        return of(CompletableFuture.failedFuture(Objects.requireNonNull(failure, "failure")));
    }

    /** Cancels this future; the flag has no effect. The class comment says which other futures that cancels. */
    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return isDone()
                ? isCancelled()
                : cancel(new UntracedCancellationException("cancel of the future was called"), null);
    }

    /**
     * Cancels this future for a reason. It becomes the cause of the {@link CancellationException}, and
     * {@link CancellationToken#reason} returns it.
     */
    @Override
    public boolean cancel(Throwable reason) {
        Objects.requireNonNull(reason, "reason");
        return isDone() ? isCancelled() : cancel(Stages.cancellation(reason), reason);
    }

    private boolean cancel(CancellationException e, @Nullable Throwable reason) {
        return endFromOutside(null, e, reason == null ? e : reason) || isCancelled();
    }

    /**
     * A future that completes when this one is done and no work behind it goes on: its function has ended or will never
     * begin; its teardowns have run, except those that other threads register later; the stage given to {@link #of} has
     * ended. The termination of a derived stage waits for the work that the stage's own cancel, or its completion from
     * outside, has cancelled. The returned future always completes normally; completing or cancelling it does not
     * affect this one.
     */
    public CompletableFuture<@Nullable Void> terminated() {
        return termination().copy();
    }

    @Override
    public boolean complete(T value) {
        return !isDone()
                && endFromOutside(
                        value, null, new UntracedCancellationException("the future was completed from outside"));
    }

    @Override
    public boolean completeExceptionally(Throwable cause) {
        Objects.requireNonNull(cause, "cause");
        return !isDone() && endFromOutside(null, cause, cause);
    }

    @Override
    public CancellableFuture<T> completeAsync(Supplier<? extends T> supplier, Executor executor) {
        CallbackExecutor.completeAsync(this, supplier, executor);
        return this;
    }

    @Override
    public CancellableFuture<T> completeAsync(Supplier<? extends T> supplier) {
        return completeAsync(supplier, defaultExecutor());
    }

    @Override
    public void obtrudeValue(T value) {
        complete(value);
        super.obtrudeValue(value);
    }

    @Override
    public void obtrudeException(Throwable cause) {
        completeExceptionally(cause);
        super.obtrudeException(cause);
    }

    /**
     * Completes this future with a {@link TimeoutException} if it is not done in time, and ends the work behind it as a
     * cancel would. With a timeout of zero or less it succeeds or fails at once.
     */
    public CancellableFuture<T> orTimeout(Duration timeout) {
        return after(
                timeout,
                () -> completeExceptionally(new TimeoutException("not done within " + Durations.textOf(timeout))));
    }

    /** As {@link #orTimeout(Duration)}. */
    @Override
    public CancellableFuture<T> orTimeout(long timeout, TimeUnit unit) {
        return orTimeout(Timeout.of(timeout, unit));
    }

    /**
     * Completes this future with the value if it is not done in time, and ends the work behind it as a cancel would.
     */
    @Override
    public CancellableFuture<T> completeOnTimeout(T value, long timeout, TimeUnit unit) {
        return after(Timeout.of(timeout, unit), () -> complete(value));
    }

    private CancellableFuture<T> after(Duration timeout, Runnable end) {
        Objects.requireNonNull(timeout, "timeout");
        Runnable late = CallerContext.runnable(end);
        try {
            DisposableHandle timer = Timeout.start(this, timeout, late);
            if (timer != null) whenDone(timer::dispose);
        } catch (Throwable e) { // no thread for the timer: no caller has the work, unless this is returned
            completeExceptionally(e);
        }
        return this;
    }

    /** A future with no work behind it. Only calls on that future complete it. */
    @Override
    public <U extends @Nullable Object> CancellableFuture<U> newIncompleteFuture() {
        return new CancellableFuture<>(null);
    }

    /** A copy that counts as a dependent of this future for ever: cancelling the copy cancels nothing here. */
    @Override
    @SuppressWarnings("unchecked") // created by newIncompleteFuture
    public CancellableFuture<T> copy() {
        countDependentForGood();
        return (CancellableFuture<T>) super.copy();
    }

    /**
     * The work behind this and its state, and how this has ended if it has: {@code CancellableFuture of a function
     * (running, thread = pool-1-thread-1)}.
     */
    @Override
    public String toString() {
        return description() + Stages.endOf(this);
    }

    /** A stage that counts as a dependent of this future for ever, because the stage cannot be cancelled. */
    @Override
    public CompletionStage<T> minimalCompletionStage() {
        countDependentForGood();
        return super.minimalCompletionStage();
    }
}
