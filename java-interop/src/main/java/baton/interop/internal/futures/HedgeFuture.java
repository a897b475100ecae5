package baton.interop.internal.futures;

import baton.Refusal;
import baton.bridge.PipelineLayers;
import baton.bridge.RetryBridge;
import baton.waiting.threads.Trampoline;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import kotlinx.coroutines.DisposableHandle;
import org.jspecify.annotations.Nullable;

/**
 * The future of a call with a hedge: of its attempts the first success wins, and the others are cancelled. The rules are
 * those of {@code HedgeRace}: {@code running} counts the attempts that may still succeed; once it is 0 none joins; the
 * thread that sets {@code isDecided} cancels the attempts and then completes this.
 */
public final class HedgeFuture<T extends @Nullable Object> extends RevocableFuture<T> {
    private final PipelineLayers layers;
    private final Attempt<T> attempt;
    private final AtomicInteger running = new AtomicInteger(1);
    private final AtomicInteger begun = new AtomicInteger(1);
    private final AtomicBoolean isDecided = new AtomicBoolean();
    private final Queue<CompletionStage<T>> stages = new ConcurrentLinkedQueue<>();
    private final Queue<Throwable> laterFailures = new ConcurrentLinkedQueue<>();
    private volatile @Nullable DisposableHandle timer;

    /** Written by the end of the first attempt before it leaves {@code running}. */
    private @Nullable End<T> first;

    /** Begins attempts. */
    public interface Attempt<T extends @Nullable Object> {
        /**
         * The stage of an attempt.
         *
         * @param onBegin to be called once the first attempt has all that it waits for; null for a further attempt,
         *     which takes what it needs now or not at all
         */
        CompletionStage<T> begin(@Nullable Runnable onBegin);
    }

    private record End<T extends @Nullable Object>(
            @Nullable T value, @Nullable Throwable failure) {}

    private HedgeFuture(PipelineLayers layers, Attempt<T> attempt) {
        this.layers = layers;
        this.attempt = attempt;
    }

    /** Begins the first attempt. */
    public static <T extends @Nullable Object> CompletableFuture<T> start(PipelineLayers layers, Attempt<T> attempt) {
        HedgeFuture<T> future = new HedgeFuture<>(layers, attempt);
        future.begin(future::startTimer);
        return future;
    }

    private void startTimer() {
        if (isDecided.get()) return;
        try {
            long millis = Timeout.millis(Objects.requireNonNull(layers.hedgeAfter));
            timer = layers.schedule(millis, this::follow);
            if (isDecided.get()) cancelAll();
        } catch (Throwable e) { // no thread for the timer: the first attempt goes on alone
            Trampoline.report(e);
        }
    }

    private void follow() {
        if (!tryJoin()) return;
        if (begun.incrementAndGet() < layers.hedgeAttempts) startTimer();
        begin(null);
    }

    private boolean tryJoin() {
        while (true) {
            int count = running.get();
            if (count == 0 || isDecided.get()) return false;
            if (running.compareAndSet(count, count + 1)) return true;
        }
    }

    private void begin(@Nullable Runnable onBegin) {
        boolean isFirst = onBegin != null;
        CompletionStage<T> stage;
        try {
            stage = Objects.requireNonNull(attempt.begin(onBegin), "the action returned null instead of a stage");
        } catch (Throwable e) {
            ended(isFirst, null, e);
            return;
        }
        stages.add(stage);
        AtomicBoolean hasEnded = new AtomicBoolean();
        try {
            var unused = stage.whenComplete((value, e) -> {
                if (hasEnded.compareAndSet(false, true)) ended(isFirst, value, e == null ? null : Stages.unwrap(e));
            });
        } catch (Throwable e) { // a stage of a broken class, which may have called that all the same
            Stages.cancel(stage);
            if (hasEnded.compareAndSet(false, true)) ended(isFirst, null, e);
        }
        if (isDecided.get()) cancelAll(); // the thread that has decided may have seen no stage yet
    }

    private void ended(boolean isFirst, @Nullable T value, @Nullable Throwable failure) {
        End<T> end = new End<>(value, failure);
        boolean isOver = failure != null && (failure instanceof Error || RetryBridge.isCancellation(failure, true));
        if (failure == null) {
            try {
                isOver = layers.failureResult == null || !layers.failureResult.test(value);
            } catch (Throwable e) {
                end = new End<>(null, e);
                isOver = e instanceof Error;
            }
        }
        if (isOver) decide(end);
        else lose(isFirst, end);
    }

    private void lose(boolean isFirst, End<T> end) {
        if (isFirst) first = end;
        else if (end.failure != null && !(end.failure instanceof Refusal)) laterFailures.add(end.failure);
        if (running.decrementAndGet() > 0) return;
        End<T> last = first == null ? end : first;
        if (last.failure != null) for (Throwable later : laterFailures) RetryBridge.suppress(later, last.failure);
        decide(last);
    }

    private void decide(End<T> end) {
        if (!isDecided.compareAndSet(false, true)) return;
        cancelAll();
        endAfterStage(end.value, end.failure);
    }

    private void cancelAll() {
        DisposableHandle started = timer;
        if (started != null) started.dispose();
        for (CompletionStage<T> stage = stages.poll(); stage != null; stage = stages.poll()) Stages.cancel(stage);
    }

    @Override
    protected void withdraw() {
        isDecided.set(true);
    }

    @Override
    protected void cancelRunning() {
        cancelAll();
    }

    @Override
    protected String description() {
        return "hedged call of " + layers;
    }
}
