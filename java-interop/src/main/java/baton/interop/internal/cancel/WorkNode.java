package baton.interop.internal.cancel;

import baton.interop.CancellableFunction;
import baton.interop.CancellationToken;
import baton.interop.internal.futures.CallerContext;
import baton.interop.internal.futures.FieldHandle;
import baton.interop.internal.futures.RevocableFuture;
import baton.interop.internal.futures.Stages;
import baton.waiting.threads.Trampoline;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A future, the work behind it if it is the first of a chain, and the count of all that still goes on for it.
 *
 * <p>A future with work is decided by the thread that sets a {@link Completion} into its {@link CancellableWork}; a
 * thread that is too late completes the future with that. A derived stage has no work and is decided as any
 * CompletableFuture.
 */
abstract class WorkNode<T extends @Nullable Object> extends CompletableFuture<T> {
    private static final VarHandle ONGOING = FieldHandle.of(MethodHandles.lookup(), "ongoing", int.class);
    private static final VarHandle TERMINATION =
            FieldHandle.of(MethodHandles.lookup(), "termination", CompletableFuture.class);

    private static final int TERMINATED = -1;

    /** Null for a derived stage. */
    final @Nullable CancellableWork work;

    /** How many things still go on for this. At 0 with this done it becomes TERMINATED, for good. */
    private volatile int ongoing;

    private volatile @Nullable CompletableFuture<@Nullable Void> termination;

    WorkNode(@Nullable CancellableWork work) {
        this.work = work;
        if (work != null) ongoing = 1; // the function, or the stage
    }

    /** Cancels this for a reason, which becomes the cause of the exception. */
    public abstract boolean cancel(Throwable reason);

    /** Makes the function the work of this; {@link #startFunction} must follow, or a cancel. */
    protected final void setFunction(CancellableFunction<? extends T> function, CancellationToken token) {
        CancellableWork mine = work;
        if (mine != null) mine.task = new FunctionTask<>(this, mine, inContext(function), token);
    }

    private static <T extends @Nullable Object> CancellableFunction<? extends T> inContext(
            CancellableFunction<? extends T> function) {
        CallerContext context = CallerContext.capture(null);
        return context == null ? function : token -> context.<T, Exception>call(() -> function.call(token));
    }

    protected final void startFunction(Executor executor) {
        if (work != null && work.task != null) work.task.start(executor);
    }

    /** Makes the stage the work of this. */
    protected final void follow(CompletionStage<T> stage) {
        CancellableWork mine = work;
        if (mine == null) return;
        mine.source = stage;
        try {
            stage.whenComplete((value, e) -> workEnded(mine, value, e == null ? null : Stages.unwrap(e)));
        } catch (Throwable e) {
            workEnded(mine, null, e);
        }
    }

    /** Runs the action when this is done; it does not count as a dependent. */
    protected final void whenDone(Runnable action) {
        var unused = super.whenComplete((value, e) -> action.run());
    }

    /** Completes this, as any CompletableFuture; a null failure means with the value. */
    final boolean set(@Nullable T value, @Nullable Throwable failure) {
        return failure == null ? super.complete(value) : super.completeExceptionally(failure);
    }

    /**
     * Decides how the work ends, and withdraws or cancels it; the caller completes this. False if the work had ended:
     * then this is completed with its outcome, here or by the thread that ends it.
     */
    final boolean abandonWork(CancellableWork mine, Completion completion) {
        CompletionStage<?> source = mine.source;
        // Before the decision: a request that was granted ends this with the grant, which would be lost otherwise.
        if (source instanceof RevocableFuture<?> request) {
            withdrawRequest(request);
            if (request.isDone()) settleAs(mine, request);
        }
        if (!mine.end(completion)) {
            completeAsDecided(mine);
            return false;
        }
        if (mine.task != null && mine.task.takeFunction() != null) removeOngoing(); // its function will never begin
        if (source != null) cancelStage(source, completion);
        mine.interrupt(completion);
        return true;
    }

    static void withdrawRequest(RevocableFuture<?> request) {
        try {
            Stages.withdraw(request);
        } catch (Throwable e) {
            Trampoline.report(e);
        }
    }

    private static void cancelStage(CompletionStage<?> source, Completion completion) {
        try {
            Stages.cancel(source);
        } catch (Throwable e) { // of a stage of the user's own
            completion.attach(e);
        }
    }

    @SuppressWarnings("unchecked") // only this puts values into its work
    final void completeWith(CancellableWork mine, Completion completion) {
        boolean entered = mine.enterThread();
        try {
            set((T) completion.value, completion.failure);
            if (mine.group != null && completion.failure != null) mine.group.failed(this, completion.failure);
            mine.tearDown(completion);
        } finally {
            mine.leaveThread(entered);
        }
    }

    /** Does nothing if the dependents ended the work: the thread that does so completes them before this. */
    @SuppressWarnings("unchecked") // only this puts values into its work
    private void completeAsDecided(CancellableWork mine) {
        Completion completion = mine.completion();
        if (completion != null && !completion.isByDependents) set((T) completion.value, completion.failure);
    }

    /** Runs the function on the current thread. */
    final void runFunction(CancellableWork mine, CancellableFunction<? extends T> function, CancellationToken token) {
        boolean entered = mine.enterThread();
        T value = null;
        Throwable failure = null;
        mine.functionBegins();
        try {
            value = function.call(token);
        } catch (Throwable e) {
            failure = e;
        }
        mine.functionReturned();
        try {
            settle(mine, value, failure);
        } finally {
            mine.leaveThread(entered);
            removeOngoing();
        }
    }

    /** The work has ended by itself. */
    final void workEnded(CancellableWork mine, @Nullable T value, @Nullable Throwable failure) {
        settle(mine, value, failure);
        mine.source = null; // not before: a thread that ends this from outside reads it
        removeOngoing();
    }

    /** The source has completed, though this may not have been completed by it yet. */
    @SuppressWarnings("unchecked") // only a stage of T is a source
    private void settleAs(CancellableWork mine, CompletableFuture<?> source) {
        var unused = ((CompletableFuture<T>) source)
                .whenComplete((value, e) -> settle(mine, value, e == null ? null : Stages.unwrap(e)));
    }

    private void settle(CancellableWork mine, @Nullable T value, @Nullable Throwable failure) {
        Completion completion = Completion.byItself(value, failure);
        if (mine.end(completion)) {
            if (failure != null && mine.group != null) mine.group.failed(this, failure);
            mine.tearDown(completion);
            set(value, failure);
        } else if (failure != null) {
            Completion before = mine.completion();
            if (before != null) before.failedAfterwards(failure);
        }
    }

    /** Counts one more thing that goes on for this, until {@link #removeOngoing}. False if this has terminated. */
    final boolean addOngoing() {
        for (; ; ) {
            int now = ongoing;
            if (now == TERMINATED) return false;
            if (ONGOING.compareAndSet(this, now, now + 1)) return true;
        }
    }

    final void removeOngoing() {
        if ((int) ONGOING.getAndAdd(this, -1) == 1) terminateIfOver();
    }

    private void terminateIfOver() {
        if (!isDone() || !ONGOING.compareAndSet(this, 0, TERMINATED)) return;
        CancellableWork mine = work;
        boolean entered = mine != null && mine.enterThread();
        CompletableFuture<@Nullable Void> observed = termination;
        if (observed != null) observed.complete(null);
        if (mine == null) return;
        mine.leaveThread(entered);
        // Last: after the block of the scope nothing of it runs, not even the dependents of the termination.
        if (mine.group != null) mine.group.terminated(this);
    }

    /** Completes once this is done and nothing goes on for it any more. */
    protected final CompletableFuture<@Nullable Void> termination() {
        CompletableFuture<@Nullable Void> now = termination;
        if (now != null) return now;
        CompletableFuture<@Nullable Void> mine = new CompletableFuture<>();
        if (!TERMINATION.compareAndSet(this, null, mine)) return termination();
        // Nothing else calls terminateIfOver when the sources of a derived stage complete it.
        if (work == null) whenDone(this::terminateIfOver);
        if (ongoing == TERMINATED) mine.complete(null);
        return mine;
    }
}
