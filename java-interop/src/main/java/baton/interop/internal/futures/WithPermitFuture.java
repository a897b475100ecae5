package baton.interop.internal.futures;

import baton.interop.Permit;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The future of a {@code with…} call: waits for a permit, runs the action, gives the permit back when the action's
 * stage has ended, and completes as that stage did. Withdrawn before the action has begun: so is the request, or the
 * permit given back.
 */
public final class WithPermitFuture<T extends @Nullable Object> extends StageFuture<T> {
    private final CompletableFuture<Permit> grant;

    /** Let go when it has begun, or never will: a future may be kept for its value. Whoever ends the waiting takes it. */
    private @Nullable Supplier<? extends CompletionStage<T>> action;

    private WithPermitFuture(CompletableFuture<Permit> grant, Supplier<? extends CompletionStage<T>> action) {
        this.grant = grant;
        this.action = action;
    }

    /**
     * Runs the action with the permit, once it is granted.
     *
     * @param executor runs the action; null for the thread that grants
     */
    public static <T extends @Nullable Object> CompletableFuture<T> run(
            CompletableFuture<Permit> grant,
            Supplier<? extends CompletionStage<T>> action,
            @Nullable Executor executor) {
        WithPermitFuture<T> call = new WithPermitFuture<>(grant, action);
        var unused = grant.whenComplete((permit, failure) -> {
            if (permit == null) call.refused(failure);
            else if (executor == null) call.begin();
            else call.beginOn(executor);
        });
        return call;
    }

    private void refused(Throwable why) {
        if (!leaveToBegin()) return;
        action = null;
        fail(Stages.unwrap(why));
    }

    private void beginOn(Executor executor) {
        try {
            executor.execute(this::begin);
        } catch (Throwable e) {
            // An executor may throw although it has queued the task, or even run it: then the action has the permit.
            if (!leaveToBegin()) return;
            action = null;
            ended(null, e);
        }
    }

    /** Once: what was withdrawn has given the permit back, and what has begun still holds it. */
    private void begin() {
        Supplier<? extends CompletionStage<T>> mine = leaveToBegin() ? action : null;
        if (mine == null) return;
        action = null;
        perform(mine);
    }

    /** Null if it has none, or none yet. */
    private @Nullable Permit permit() {
        return grant.isCompletedExceptionally() ? null : grant.getNow(null);
    }

    @Override
    void ended(@Nullable T value, @Nullable Throwable failure) {
        Throwable why = failure;
        try {
            Permit permit = permit();
            if (permit != null) permit.close();
        } catch (Throwable e) { // somebody else has given back what was ours
            if (why == null) why = e;
            else if (why != e) why.addSuppressed(e);
        }
        if (why == null) succeed(value);
        else fail(why);
    }

    @Override
    public void withdraw() {
        if (!leaveWithdrawn()) return;
        action = null;
        grant.cancel(false);
        // Too late for that, but the action had not begun: it waited for its executor.
        Permit permit = permit();
        if (permit != null) permit.close();
    }
}
