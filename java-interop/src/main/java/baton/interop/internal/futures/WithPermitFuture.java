package baton.interop.internal.futures;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The future of a {@code with…} call: waits for a permit, runs the action, closes the permit when the action's stage
 * has completed, and completes as that stage did. If it is withdrawn before the action has begun, the request is
 * withdrawn too, or the permit is closed.
 */
public final class WithPermitFuture<T extends @Nullable Object> extends StageFuture<T> {
    private final CompletableFuture<? extends AutoCloseable> grant;

    /** Cleared by the thread that ends the wait, because the future may be kept for its value. */
    private @Nullable Supplier<? extends CompletionStage<T>> action;

    private WithPermitFuture(
            CompletableFuture<? extends AutoCloseable> grant, Supplier<? extends CompletionStage<T>> action) {
        this.grant = grant;
        this.action = action;
    }

    /**
     * Runs the action with the permit, once it is granted.
     *
     * @param action in its {@link CallerContext}, which must be captured before the request is made: that may fail
     * @param executor runs the action; null for the thread that grants
     */
    public static <T extends @Nullable Object> CompletableFuture<T> run(
            Supplier<? extends CompletionStage<T>> action,
            CompletableFuture<? extends AutoCloseable> grant,
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
        if (!tryBegin()) return;
        action = null;
        fail(Stages.unwrap(why));
    }

    private void beginOn(Executor executor) {
        try {
            executor.execute(this::begin);
        } catch (Throwable e) {
            // An executor may throw although it has queued the task, or even run it: then the action has the permit.
            if (!tryBegin()) return;
            action = null;
            actionEnded(null, e);
        }
    }

    /** Begins at most once. A withdrawn action has closed the permit; one that has begun still holds it. */
    private void begin() {
        Supplier<? extends CompletionStage<T>> mine = tryBegin() ? action : null;
        if (mine == null) return;
        action = null;
        runAction(mine);
    }

    @Override
    protected @Nullable String call() {
        AutoCloseable permit = permit();
        if (grant instanceof WaiterFuture<?> waiter)
            return permit == null ? waiter.call() : "action after " + waiter.call();
        return permit == null ? null : "action, " + permit + ",";
    }

    @Override
    protected String description() {
        AutoCloseable permit = permit();
        return permit == null ? grant.toString() : "action, " + permit;
    }

    @Override
    protected <E extends Throwable> E traced(E failure) {
        return grant instanceof WaiterFuture<?> waiter ? waiter.traced(failure) : failure;
    }

    /** The permit, or null while this has none. */
    private @Nullable AutoCloseable permit() {
        return grant.isCompletedExceptionally() ? null : grant.getNow(null);
    }

    @Override
    protected void actionEnded(@Nullable T value, @Nullable Throwable failure) {
        Throwable why = failure;
        try {
            AutoCloseable permit = permit();
            if (permit != null) permit.close();
        } catch (Throwable e) { // other code has released the permit, bypassing it
            if (why == null) why = e;
            else if (why != e) why.addSuppressed(e);
        }
        endAfterStage(value, why);
    }

    @Override
    protected void withdraw() {
        if (!tryWithdraw()) return;
        action = null;
        grant.cancel(false);
        // Granted before, but the action had not begun: it waited for its executor.
        AutoCloseable permit = permit();
        if (permit == null) return;
        try {
            permit.close();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new CompletionException(e);
        }
    }
}
