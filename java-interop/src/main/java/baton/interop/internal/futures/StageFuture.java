package baton.interop.internal.futures;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The future of a call that waits for something it has while it runs. It begins, or is withdrawn, one of both: then it
 * never runs. Cancelled while it runs: its stage is cancelled, and what it has is given back when that has really
 * ended.
 */
abstract class StageFuture<T extends @Nullable Object> extends RevocableFuture<T> {
    private static final VarHandle PHASE;

    static {
        try {
            PHASE = MethodHandles.lookup().findVarHandle(StageFuture.class, "phase", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // One compare-and-set leaves WAITING: whoever wins it completes this, and gives back what it has.
    private static final int WAITING = 0;
    private static final int BEGUN = 1;
    private static final int WITHDRAWN = 2;

    /** Null before it runs and when it has ended. */
    private volatile @Nullable CompletionStage<T> running;

    private volatile int phase = WAITING;

    final boolean isWaiting() {
        return phase == WAITING;
    }

    /** Whether whoever calls it is to run this, or to end it without. */
    final boolean leaveToBegin() {
        return PHASE.compareAndSet(this, WAITING, BEGUN);
    }

    /** Whether this will never run, by whoever calls it. */
    final boolean leaveWithdrawn() {
        return PHASE.compareAndSet(this, WAITING, WITHDRAWN);
    }

    /** Gives back what it has, then completes this: whoever sees it completed finds that back. */
    abstract void ended(@Nullable T value, @Nullable Throwable failure);

    /** Runs {@code action} and lets {@link #ended} know when its stage has ended, or why there is none. */
    final void perform(Supplier<? extends CompletionStage<T>> action) {
        CompletionStage<T> stage;
        try {
            stage = Objects.requireNonNull(action.get(), "the action returned null instead of a stage");
            running = stage;
            stage.whenComplete((value, e) -> {
                running = null;
                ended(value, e == null ? null : Stages.unwrap(e));
            });
        } catch (Throwable e) {
            ended(null, e);
            return;
        }
        if (isCancelled()) Stages.cancel(stage);
    }

    @Override
    protected void cancelRunning() {
        CompletionStage<T> stage = running;
        if (stage != null) Stages.cancel(stage);
    }
}
