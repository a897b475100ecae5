package baton.interop;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The future of a {@code with…} call: waits for a permit, runs the action, gives the permit back when the action's
 * stage has ended, and completes as that stage did.
 *
 * <p>Cancelled, or completed from outside, before the action has begun: the request is withdrawn, or the permit given
 * back, and the action never runs. Cancelled while the action runs: its stage is cancelled, and the permit comes back
 * when the stage has really ended.
 */
final class GuardedCall<T extends @Nullable Object> extends Withdrawable<T> {
    private static final VarHandle PHASE;

    static {
        try {
            PHASE = MethodHandles.lookup().findVarHandle(GuardedCall.class, "phase", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // One compare-and-set leaves WAITING: whoever wins it completes this.
    private static final int WAITING = 0;
    private static final int BEGUN = 1;
    private static final int WITHDRAWN = 2;

    private final CompletableFuture<Permit> grant;
    private final Supplier<? extends CompletionStage<T>> action;
    private volatile @Nullable CompletionStage<T> running;

    @SuppressWarnings("UnusedVariable") // by PHASE
    private volatile int phase = WAITING;

    private GuardedCall(CompletableFuture<Permit> grant, Supplier<? extends CompletionStage<T>> action) {
        this.grant = grant;
        this.action = action;
    }

    /** @param executor what runs the action; null for the thread that grants. */
    static <T extends @Nullable Object> CompletableFuture<T> run(
            CompletableFuture<Permit> grant,
            Supplier<? extends CompletionStage<T>> action,
            @Nullable Executor executor) {
        GuardedCall<T> call = new GuardedCall<>(grant, action);
        var unused = grant.whenComplete((permit, failure) -> {
            if (permit == null) call.refused(failure);
            else if (executor == null) call.begin(permit);
            else call.beginOn(executor, permit);
        });
        return call;
    }

    private boolean leaveWaiting(int to) {
        return PHASE.compareAndSet(this, WAITING, to);
    }

    private void refused(Throwable why) {
        if (leaveWaiting(BEGUN)) fail(Stages.unwrap(why));
    }

    private void beginOn(Executor executor, Permit permit) {
        try {
            executor.execute(() -> begin(permit));
        } catch (Throwable e) {
            if (leaveWaiting(BEGUN)) ended(permit, null, e);
            else permit.close();
        }
    }

    private void begin(Permit permit) {
        if (!leaveWaiting(BEGUN)) {
            permit.close();
            return;
        }
        CompletionStage<T> stage;
        try {
            stage = Objects.requireNonNull(action.get(), "the action returned null instead of a stage");
            running = stage;
            stage.whenComplete((value, e) -> ended(permit, value, e == null ? null : Stages.unwrap(e)));
        } catch (Throwable e) {
            ended(permit, null, e);
            return;
        }
        if (isCancelled()) Stages.cancel(stage);
    }

    private void ended(Permit permit, @Nullable T value, @Nullable Throwable failure) {
        Throwable why = failure;
        try {
            if (permit instanceof HeldPermit held) held.closeAfter(failure);
            else permit.close();
        } catch (Throwable e) { // somebody else has given back what was ours
            if (why == null) why = e;
            else if (why != e) why.addSuppressed(e);
        }
        if (why == null) succeed(value);
        else fail(why);
    }

    @Override
    void withdraw() {
        if (!leaveWaiting(WITHDRAWN)) return;
        grant.cancel(false);
        // Too late for that, but the action had not begun: it waited for its executor.
        Permit permit = grant.isCompletedExceptionally() ? null : grant.getNow(null);
        if (permit != null) permit.close();
    }

    @Override
    void cancelRunning() {
        CompletionStage<T> stage = running;
        if (stage != null) Stages.cancel(stage);
    }
}
