package baton.interop.internal.futures;

import baton.bridge.RetryBridge;
import baton.bridge.RetryCall;
import baton.resilience.RetryPolicy;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import kotlinx.coroutines.DisposableHandle;
import org.jspecify.annotations.Nullable;

/**
 * The future of a retry that has not succeeded at once.
 *
 * <p>Its events follow each other: an attempt ends, a wait ends. The thread of an event decides what follows and begins
 * it, see {@link SerialDrain}. So the stack stays flat, and fields that only events use need no lock.
 *
 * <p>At its end it releases the functions and the failures of the call, because it may be kept for its value.
 */
public final class RetryFuture<T extends @Nullable Object> extends RevocableFuture<T> {
    private static final long NO_ATTEMPT = -1;

    private final String label;
    private final int maxAttempts;
    private int number = 1;

    /** Null when this ends; then events are ignored. A thread that still sees the plan sees that this is done. */
    private @Nullable RetryPlan<T> plan;

    /** Of the events. The first one is the call. */
    private final SerialDrain drain = new SerialDrain(true);

    /** The attempt that has ended; null if a wait has. Written before the signal. */
    private @Nullable StageAttempt<T> ended;

    /** The last attempt. Its stage is cancelled by the thread that ends this, or by the one that writes this field. */
    private volatile @Nullable StageAttempt<T> running;

    private volatile @Nullable Wait wait;

    /** A wait for the next attempt. It is published before its timer starts, so it never replaces a later one. */
    private static final class Wait {
        volatile @Nullable DisposableHandle timer;

        void dispose() {
            DisposableHandle started = timer;
            if (started != null) started.dispose();
        }
    }

    private RetryFuture(RetryPlan<T> plan) {
        this.plan = plan;
        label = RetryBridge.label(plan.policy);
        maxAttempts = plan.policy.getMaxAttempts();
    }

    /**
     * Begins the first attempt. If its stage is a future that has its value already, that is the end.
     *
     * @param retryResult null if every result is accepted
     * @param retryAfter not null if {@code retryResult} is not
     */
    public static <T extends @Nullable Object> CompletableFuture<T> start(
            RetryPolicy policy,
            Supplier<? extends CompletionStage<T>> action,
            @Nullable Predicate<? super T> retryResult,
            @Nullable Function<? super T, Optional<Duration>> retryAfter) {
        RetryPlan<T> plan = new RetryPlan<>(policy, action, retryResult, retryAfter);
        CompletionStage<T> stage = plan.newStage();
        if (retryResult == null && Stages.isDone(stage)) {
            CompletableFuture<T> first = stage.toCompletableFuture();
            if (!first.isCompletedExceptionally()) {
                RetryBridge.succeeded(policy);
                return CompletableFuture.completedFuture(first.join());
            }
        }
        RetryFuture<T> future = new RetryFuture<>(plan);
        future.begin(stage);
        future.handleEvents(0);
        return future;
    }

    /** An attempt has ended, or a wait has if there is none. */
    void signal(@Nullable StageAttempt<T> attempt) {
        if (plan == null) return;
        ended = attempt;
        if (drain.signal()) runInContext(() -> handleEvents(handle()));
    }

    void runInContext(Runnable call) {
        RetryPlan<T> mine = plan;
        CallerContext.runFor(mine == null ? null : mine.context, call);
    }

    /** Handles the events since the last one, after which there is a wait of so many milliseconds, if any. */
    private void handleEvents(long lastWait) {
        long millis = lastWait;
        StageAttempt<T> begun = running;
        while (!drain.end()) {
            millis = handle();
            begun = running;
        }
        // A timer that went off before would leave the next attempt to this thread.
        if (millis > 0) startWait(millis);
        else if (millis == 0 && begun != null) startLimit(begun);
    }

    /** Returns the wait for the next attempt, and 0 or less if none is to begin. */
    private long handle() {
        drain.begin();
        StageAttempt<T> last = ended;
        ended = null;
        RetryPlan<T> mine = plan;
        if (mine == null) return NO_ATTEMPT;
        try {
            long millis = last == null ? 0 : waitAfter(mine, last);
            if (millis == 0 && !isDone()) begin(mine.newStage());
            return millis;
        } catch (Throwable e) { // of a function of the policy
            endWith(e);
            return NO_ATTEMPT;
        }
    }

    private void startWait(long millis) {
        RetryPlan<T> mine = plan;
        if (mine == null) return;
        try {
            Wait next = new Wait();
            wait = next;
            next.timer = RetryBridge.schedule(mine.policy, millis, () -> signal(null));
            if (isDone()) {
                next.dispose(); // the thread that ended this may have seen no timer yet
                cancelRunning();
            }
        } catch (Throwable e) { // no thread for the timer
            endWith(e);
        }
    }

    private void startLimit(StageAttempt<T> attempt) {
        RetryPlan<T> mine = plan;
        Duration limit = mine == null ? null : RetryBridge.attemptTimeout(mine.policy);
        if (mine == null || limit == null) return;
        try {
            attempt.startLimit(limit, mine.policy);
        } catch (Throwable e) { // no thread for the timer
            endWith(e);
            attempt.cancel();
        }
    }

    private void begin(CompletionStage<T> stage) {
        StageAttempt<T> attempt = new StageAttempt<>(this, stage);
        running = attempt;
        attempt.await(stage);
        if (isDone()) {
            attempt.cancel(); // as above
            cancelRunning();
        }
    }

    /** The wait for the next attempt, 0 if it begins now; negative if there is none, and this is completed. */
    private long waitAfter(RetryPlan<T> mine, StageAttempt<T> last) {
        if (isDone()) return NO_ATTEMPT;
        if (last.hasFailed()) {
            Throwable failure = last.failure(mine.call());
            if (!mine.call().isRetryable(failure) || !mine.call().advance(failure)) {
                endWith(mine.call().ending(failure));
                return NO_ATTEMPT;
            }
        } else {
            T value = last.value();
            boolean isAccepted = mine.accepts(value);
            if (isAccepted) RetryBridge.succeeded(mine.policy);
            if (isAccepted || !mine.advance(value)) {
                Throwable why = isAccepted ? null : mine.call().failureAfter(value);
                plan = null;
                endAfterStage(value, why);
                return NO_ATTEMPT;
            }
        }
        RetryCall call = mine.call();
        number = call.getAttempt().getNumber();
        return Timeout.millis(call.getDelay());
    }

    private void endWith(Throwable failure) {
        plan = null;
        endAfterStage(null, failure);
    }

    @Override
    protected void withdraw() {
        Wait current = wait;
        if (current != null && !isDone()) current.dispose();
    }

    @Override
    protected void cancelRunning() {
        Wait current = wait;
        StageAttempt<T> attempt = running;
        plan = null;
        wait = null;
        running = null;
        if (current != null) current.dispose();
        if (attempt != null) attempt.cancel();
    }

    @Override
    protected String call() {
        return RetryBridge.textOf(label, number, maxAttempts);
    }

    @Override
    protected String description() {
        return call();
    }
}
