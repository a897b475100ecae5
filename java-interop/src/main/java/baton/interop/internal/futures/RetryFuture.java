package baton.interop.internal.futures;

import baton.bridge.RetryBridge;
import baton.bridge.RetryCall;
import baton.interop.CancellableFuture;
import baton.resilience.AttemptTimeoutException;
import baton.resilience.RetryPolicy;
import baton.waiting.threads.Timeouts;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import kotlinx.coroutines.DisposableHandle;
import org.jspecify.annotations.Nullable;

/**
 * The future of a retry.
 *
 * <p>Its events follow each other: an attempt ends, a wait ends. The thread of an event decides what follows and begins
 * it. An event that comes while a thread is still busy with the one before, in particular one that comes on the same
 * stack, is left to that thread, which loops. So the stack stays flat, and what only events touch needs no lock.
 */
public final class RetryFuture<T extends @Nullable Object> extends RevocableFuture<T> {
    private static final long NO_ATTEMPT = -1;

    private final RetryCall call;
    private final @Nullable Duration limit;
    private final Supplier<? extends CompletionStage<T>> action;
    private final @Nullable Predicate<? super T> retryResult;
    private final @Nullable Function<? super T, Optional<Duration>> retryAfter;

    /** The events that are not handled yet, including the one that is being handled. */
    private final AtomicInteger events = new AtomicInteger();

    /** The attempt that has ended; null if a wait has, and at first. Written before {@link #events} is incremented. */
    private @Nullable Attempt ended;

    private volatile @Nullable Attempt running;
    private volatile @Nullable DisposableHandle wait;

    private RetryFuture(
            RetryPolicy policy,
            Supplier<? extends CompletionStage<T>> action,
            @Nullable Predicate<? super T> retryResult,
            @Nullable Function<? super T, Optional<Duration>> retryAfter) {
        this.call = new RetryCall(policy);
        this.limit = RetryBridge.attemptTimeout(policy);
        this.action = action;
        this.retryResult = retryResult;
        this.retryAfter = retryAfter;
    }

    /**
     * Begins the first attempt.
     *
     * @param action in its {@link CallerContext}
     * @param retryResult null if every result is accepted
     * @param retryAfter not null if {@code retryResult} is not
     */
    public static <T extends @Nullable Object> CompletableFuture<T> start(
            RetryPolicy policy,
            Supplier<? extends CompletionStage<T>> action,
            @Nullable Predicate<? super T> retryResult,
            @Nullable Function<? super T, Optional<Duration>> retryAfter) {
        RetryFuture<T> future = new RetryFuture<>(policy, action, retryResult, retryAfter);
        future.signal(null);
        return future;
    }

    private void signal(@Nullable Attempt ended) {
        this.ended = ended;
        if (events.getAndIncrement() > 0) return;
        long millis;
        do {
            millis = handle();
        } while (events.decrementAndGet() > 0);
        // A timer that went off before would leave the next attempt to this thread.
        if (millis > 0) startWait(millis);
    }

    /** Returns the wait for the next attempt, and 0 if none is to begin. */
    private long handle() {
        Attempt last = ended;
        try {
            long millis = last == null ? 0 : waitAfter(last);
            if (millis == 0) begin();
            return millis;
        } catch (Throwable e) { // of a function of the policy
            fail(e);
            return 0;
        }
    }

    private void startWait(long millis) {
        try {
            DisposableHandle timer = Timeouts.schedule(millis, () -> signal(null));
            wait = timer;
            if (isDone()) timer.dispose();
        } catch (Throwable e) { // no thread for the timer
            fail(e);
        }
    }

    private void begin() {
        if (isDone()) return;
        Attempt attempt = new Attempt();
        running = attempt;
        attempt.run(action);
        if (isDone()) attempt.cancel();
    }

    /** The wait for the next attempt, 0 if it begins now; negative if there is none, and this is completed. */
    private long waitAfter(Attempt last) {
        running = null;
        if (isDone()) return NO_ATTEMPT;
        Throwable failure = last.failure;
        if (failure != null) {
            if (!call.isRetryable(failure) || !call.advance(failure)) {
                fail(call.ending(failure));
                return NO_ATTEMPT;
            }
        } else {
            T value = last.value();
            if (retryResult == null || retryAfter == null || !retryResult.test(value)) {
                call.succeeded();
                succeed(value);
                return NO_ATTEMPT;
            }
            if (!call.advance(value, retryAfter)) {
                succeed(value);
                return NO_ATTEMPT;
            }
        }
        return Timeout.millis(call.getDelay());
    }

    @Override
    protected void withdraw() {
        DisposableHandle timer = wait;
        if (timer != null && !isDone()) timer.dispose();
    }

    @Override
    protected void cancelRunning() {
        DisposableHandle timer = wait;
        if (timer != null) timer.dispose();
        Attempt attempt = running;
        if (attempt != null) attempt.cancel();
    }

    @Override
    protected String call() {
        return call.toString();
    }

    @Override
    protected String description() {
        return call.toString();
    }

    /** One attempt: the end of its stage, and the timer of its time limit. */
    private final class Attempt implements BiConsumer<@Nullable T, @Nullable Throwable>, Runnable {
        private volatile @Nullable CompletionStage<T> stage;
        private volatile boolean isLate;
        private @Nullable DisposableHandle timer;
        private @Nullable T value;

        @Nullable
        Throwable failure;

        void run(Supplier<? extends CompletionStage<T>> action) {
            try {
                CompletionStage<T> begun =
                        Objects.requireNonNull(action.get(), "the action returned null instead of a stage");
                stage = begun;
                if (limit != null) timer = Timeouts.schedule(Timeout.millis(limit), this);
                var unused = begun.whenComplete(this);
            } catch (Throwable e) {
                cancel();
                failure = Stages.unwrap(e);
                end();
            }
        }

        /** The time is over. */
        @Override
        public void run() {
            isLate = true;
            cancel();
        }

        void cancel() {
            CompletionStage<T> begun = stage;
            if (begun != null) Stages.cancel(begun);
        }

        @Override
        public void accept(@Nullable T value, @Nullable Throwable failure) {
            this.value = value;
            if (failure != null) this.failure = isLate ? late(Stages.unwrap(failure)) : Stages.unwrap(failure);
            if (isLate && stage instanceof CancellableFuture<?> work) {
                var unused = work.terminated().whenComplete((nothing, e) -> end());
            } else {
                end();
            }
        }

        private Throwable late(Throwable failure) {
            if (failure instanceof Error) return failure;
            AttemptTimeoutException late = new AttemptTimeoutException(call.lateMessage());
            if (!(failure instanceof CancellationException)) late.addSuppressed(failure);
            return late;
        }

        private void end() {
            DisposableHandle limit = timer;
            if (limit != null) limit.dispose();
            stage = null;
            signal(this);
        }

        @SuppressWarnings("NullAway") // T may be nullable
        T value() {
            return value;
        }
    }
}
