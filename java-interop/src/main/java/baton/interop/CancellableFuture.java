package baton.interop;

import baton.interop.internal.cancel.CancellableWork;
import baton.interop.internal.cancel.TaskGroup;
import baton.interop.internal.futures.CallbackExecutor;
import baton.interop.internal.futures.Stages;
import baton.interop.internal.futures.Timeout;
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
 * begin a chain; every stage derived from it ({@code thenApply}, {@code handle}, {@code thenCombine}, …) is a
 * CancellableFuture too, whose cancel travels up the chain to its beginning.
 *
 * <p><i>Waiting.</i> Nothing here blocks. A cancelled future is done at once, as CompletableFuture has it; {@link
 * #terminated} tells when the function and its teardowns have really ended.
 *
 * <p><i>Cancellation.</i> A future is cancelled when it is cancelled itself, or when all stages that were derived from
 * it have been cancelled; one that was derived only to look on counts too. A stage with two sources
 * ({@code thenCombine}, {@code applyToEither}) passes its cancel to both, one made by {@code thenCompose} or
 * {@code exceptionallyCompose} to the stage that its function answers, even if that is after the cancel. A source that
 * is no CancellableFuture is cancelled by its own {@code cancel}. What others make of this future
 * ({@code CompletableFuture.allOf}, or {@code thenCombine} of a plain one) is not counted. {@code copy} and
 * {@code minimalCompletionStage} are counted for good, and to cancel one of them cancels nothing here.
 *
 * <p>The slower source of {@code applyToEither} and its like goes on when the faster one has completed: it may have
 * readers of its own, as with CompletableFuture. It is not counted as wanted by that stage any more. To stop it, cancel
 * it in a dependent of the stage.
 *
 * <p>One {@link CancellationException} goes through all that a cancel reaches; its cause is the reason given. On newer
 * JDKs (on 25, not on 17) {@code join}, {@code get} and {@code getNow} throw another CancellationException around it,
 * so that the reason is one level deeper there; {@code handle} and {@code exceptionally} see the same on all.
 *
 * <p>Completing a future from outside ({@code complete}, {@code completeExceptionally}, {@code completeAsync},
 * {@code obtrude…}, {@code orTimeout}, {@code completeOnTimeout}) gives it that outcome, and ends the work for it as a
 * cancel would. The flag of {@code cancel(boolean)} means nothing; see {@link CancellationToken#interruptible}. Whoever
 * comes too late changes nothing, and finds it done, but for the moment in which another thread is just completion it by
 * the stages derived from it.
 *
 * <p><i>Callbacks</i> run where CompletableFuture runs them; teardowns where {@link CancellationToken} says; neither
 * under a lock. A callback that blocks holds up the teardowns that come after it. After a timeout both run on
 * a thread of Baton's own, {@code baton-callbacks-…}. Timers: whole milliseconds, rounded up.
 *
 * <p><i>Memory.</i> As CompletableFuture. A stage does not keep its sources alive.
 *
 * @param <T> what it is completed with
 */
public final class CancellableFuture<T extends @Nullable Object> extends BinaryStages<T> {
    private CancellableFuture(@Nullable CancellableWork work) {
        super(work);
    }

    /** The future of a function that an executor will get. */
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
     * Runs the function on the executor; what it answers or throws, or what the executor throws, arrives in the future.
     * When that is cancelled before the function has begun, it never begins, and is let go.
     */
    public static <T extends @Nullable Object> CancellableFuture<T> supply(
            Executor executor, CancellableFunction<? extends T> function) {
        Objects.requireNonNull(executor, "executor");
        CancellableFuture<T> future = prepare(function, null);
        future.start(executor);
        return future;
    }

    /** As {@link #supply}, for what answers nothing. */
    @SuppressWarnings("NullAway") // it does not know that a Void may be null
    public static CancellableFuture<@Nullable Void> run(Executor executor, CancellableAction action) {
        Objects.requireNonNull(action, "action");
        return supply(executor, token -> {
            action.run(token);
            return null;
        });
    }

    /**
     * Completes as the stage does, and cancels it when it is cancelled itself: that of {@code HttpClient.sendAsync},
     * say, which then aborts the exchange. A stage that cannot be cancelled ends by itself; until then this is not
     * {@link #terminated}. A CancellableFuture is answered as it is.
     *
     * <p>Of a request of Baton's own, {@code AsyncSemaphore.acquire()} say, it is completed from outside only after the
     * request has left its queue, or as the request was granted before. A stage derived from this that is ended in the
     * moment of the grant may miss the permit: its function has not run, and this keeps the value. What must not be
     * lost belongs into {@code withPermit}.
     */
    public static <T extends @Nullable Object> CancellableFuture<T> of(CompletionStage<T> stage) {
        Objects.requireNonNull(stage, "stage");
        if (stage instanceof CancellableFuture<T> already) return already;
        CancellableFuture<T> future = new CancellableFuture<>(new CancellableWork(null));
        future.follow(stage);
        return future;
    }

    /** Cancels it, whatever the flag; see the class for what else that cancels. */
    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return isDone() ? isCancelled() : cancel(new CancellationException(), null);
    }

    /**
     * Cancels it for a reason: the cause of the {@link CancellationException}, and what
     * {@link CancellationToken#reason} answers.
     */
    public boolean cancel(Throwable reason) {
        Objects.requireNonNull(reason, "reason");
        return isDone() ? isCancelled() : cancel(Stages.cancellation(reason), reason);
    }

    private boolean cancel(CancellationException e, @Nullable Throwable reason) {
        return endFromOutside(null, e, reason == null ? e : reason) || isCancelled();
    }

    /**
     * A future that completes when this is done and nothing goes on behind it any more: its function has ended, or will
     * never begin; its teardowns have run, but for those registered later by others; the stage given to {@link #of} has
     * ended. That of a derived stage waits for the work that its own cancel, or completion from outside, has cancelled.
     * It always completes normally, and what one does to it changes nothing here.
     */
    public CompletableFuture<@Nullable Void> terminated() {
        return termination().copy();
    }

    @Override
    public boolean complete(T value) {
        return !isDone() && endFromOutside(value, null, new CancellationException("completed from outside"));
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
     * Completes it with a {@link TimeoutException} if it is not done in time, which ends the work behind it as a cancel
     * would. With zero or less it succeeds or fails at once.
     */
    public CancellableFuture<T> orTimeout(Duration timeout) {
        return after(timeout, () -> completeExceptionally(new TimeoutException("not done within " + timeout)));
    }

    /** As the other. */
    @Override
    public CancellableFuture<T> orTimeout(long timeout, TimeUnit unit) {
        return orTimeout(Timeout.of(timeout, unit));
    }

    /** Completes it with the value if it is not done in time, which ends the work behind it as a cancel would. */
    @Override
    public CancellableFuture<T> completeOnTimeout(T value, long timeout, TimeUnit unit) {
        return after(Timeout.of(timeout, unit), () -> complete(value));
    }

    private CancellableFuture<T> after(Duration timeout, Runnable end) {
        DisposableHandle timer = Timeout.start(this, timeout, end);
        if (timer != null) whenDone(timer::dispose);
        return this;
    }

    /** A future that nobody completes but its owner, with no work behind it. */
    @Override
    public <U extends @Nullable Object> CancellableFuture<U> newIncompleteFuture() {
        return new CancellableFuture<>(null);
    }

    /** Counted among those who want this one's value, for good: to cancel the copy cancels nothing here. */
    @Override
    @SuppressWarnings("unchecked") // newIncompleteFuture has made it
    public CancellableFuture<T> copy() {
        countDependentForGood();
        return (CancellableFuture<T>) super.copy();
    }

    /** Counted among those who want this one's value, for good: nobody can cancel it. */
    @Override
    public CompletionStage<T> minimalCompletionStage() {
        countDependentForGood();
        return super.minimalCompletionStage();
    }
}
