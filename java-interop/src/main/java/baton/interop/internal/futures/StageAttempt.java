package baton.interop.internal.futures;

import baton.bridge.RetryBridge;
import baton.bridge.RetryCall;
import baton.interop.CancellableFuture;
import baton.resilience.AttemptTimeoutException;
import baton.resilience.RetryPolicy;
import baton.waiting.threads.Once;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import kotlinx.coroutines.DisposableHandle;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a {@link RetryFuture}: the end of its stage, and the timer of its time limit. It is true once its stage
 * has ended, so a stage that says so twice is followed by one attempt.
 */
final class StageAttempt<T extends @Nullable Object> extends Once
        implements BiConsumer<@Nullable T, @Nullable Throwable>, Runnable {
    private static final long serialVersionUID = 1;

    private final transient RetryFuture<T> future;

    /** Null once it has completed. A thread that cancels it later changes nothing. */
    private transient volatile @Nullable CompletionStage<T> stage;

    private transient volatile boolean isLate;
    private transient volatile @Nullable DisposableHandle timer;

    // Written by the end of the stage, read by the event that follows it.
    private transient @Nullable Object valueOrFailure;
    private transient boolean hasFailed;
    private transient boolean hasFailedLate;

    StageAttempt(RetryFuture<T> future, CompletionStage<T> stage) {
        this.future = future;
        this.stage = stage;
    }

    void await(CompletionStage<T> begun) {
        try {
            var unused = begun.whenComplete(this);
        } catch (Throwable e) { // a stage of a broken class
            cancel();
            accept(null, e);
        }
    }

    /** Lets the time begin, unless the attempt has ended. */
    void startLimit(Duration limit, RetryPolicy policy) {
        if (stage == null) return;
        DisposableHandle started = RetryBridge.schedule(policy, Timeout.millis(limit), this);
        timer = started;
        if (stage == null) started.dispose(); // it has ended meanwhile
    }

    /** The time is over. */
    @Override
    public void run() {
        isLate = true;
        future.runInContext(this::cancel);
    }

    void cancel() {
        CompletionStage<T> begun = stage;
        if (begun != null) Stages.cancel(begun);
    }

    /** The stage has completed. */
    @Override
    public void accept(@Nullable T value, @Nullable Throwable failure) {
        if (!take()) return;
        hasFailed = failure != null;
        hasFailedLate = hasFailed && isLate;
        valueOrFailure = failure == null ? value : Stages.unwrap(failure);
        if (isLate && stage instanceof CancellableFuture<?> work) {
            var unused = work.terminated().whenComplete((nothing, e) -> end());
        } else {
            end();
        }
    }

    private void end() {
        stage = null;
        DisposableHandle limit = timer;
        if (limit != null) limit.dispose();
        future.signal(this);
    }

    boolean hasFailed() {
        return hasFailed;
    }

    /** The failure of the attempt; the timeout if its time was over when the stage failed. */
    Throwable failure(RetryCall call) {
        if (!(valueOrFailure instanceof Throwable why)) throw new IllegalStateException("the attempt has a value");
        if (!hasFailedLate || why instanceof Error) return why;
        AttemptTimeoutException late = new AttemptTimeoutException(call.lateMessage());
        if (!(why instanceof CancellationException)) late.addSuppressed(why);
        return late;
    }

    @SuppressWarnings({"NullAway", "unchecked"}) // T may be nullable
    T value() {
        return (T) valueOrFailure;
    }
}
