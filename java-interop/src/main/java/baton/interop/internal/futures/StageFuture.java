package baton.interop.internal.futures;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The future of an action that waits for a permit or a slot and holds it while it runs. The action either begins or is
 * withdrawn; a withdrawn action never runs. Completing this from outside while it runs cancels its stage, and the
 * permit or slot is released when that stage has completed.
 */
abstract class StageFuture<T extends @Nullable Object> extends RevocableFuture<T> {
    private static final VarHandle PHASE = FieldHandle.of(MethodHandles.lookup(), "phase", int.class);

    // One compare-and-set leaves WAITING: its thread completes this, and releases what this holds.
    private static final int WAITING = 0;
    private static final int BEGUN = 1;
    private static final int WITHDRAWN = 2;

    /** The stage of the action; null before the action runs and once the stage has completed. */
    private volatile @Nullable CompletionStage<T> running;

    private volatile int phase = WAITING;

    final boolean isWaiting() {
        return phase == WAITING;
    }

    /** True for one caller, which has to run the action or to complete this without it. */
    final boolean tryBegin() {
        return PHASE.compareAndSet(this, WAITING, BEGUN);
    }

    /** True for one caller: the action will never run. */
    final boolean tryWithdraw() {
        return PHASE.compareAndSet(this, WAITING, WITHDRAWN);
    }

    /** Releases what this holds, then completes it: a thread that sees this completed finds it released. */
    protected abstract void actionEnded(@Nullable T value, @Nullable Throwable failure);

    /** Runs the action and calls {@link #actionEnded} when its stage has completed, or why there is none. */
    protected final void runAction(Supplier<? extends CompletionStage<T>> action) {
        CompletionStage<T> stage;
        try {
            stage = Objects.requireNonNull(action.get(), "the action returned null instead of a stage");
            running = stage;
            stage.whenComplete((value, e) -> {
                running = null;
                actionEnded(value, e == null ? null : Stages.unwrap(e));
            });
        } catch (Throwable e) {
            actionEnded(null, e);
            return;
        }
        if (isDone()) cancelRunning();
    }

    @Override
    protected void cancelRunning() {
        CompletionStage<T> stage = running;
        if (stage != null) Stages.cancel(stage);
    }
}
