package baton.interop;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Tells a {@link CancellableFunction} whether its answer is still wanted, and what to do when it is not.
 *
 * <p>It is cancelled when its {@link CancellableFuture} is cancelled, directly or by the stages derived from it, or is
 * completed from outside. It stays uncancelled when the function ends first, with a value or without.
 *
 * <p><i>Teardowns.</i> Each that was registered by {@link #onCancel} runs exactly once if the work ends without the
 * function's value: cancelled, completed from outside, or failed. None runs when the function's value was taken. The
 * last registered runs first, one after another: on the thread that cancels, after the future is done and its callbacks
 * have run; or on the function's thread when the function has failed, before the future is done. What they throw is
 * attached to what the future failed with, as suppressed; where it was completed with a value from outside, it goes to
 * the thread's handler for uncaught exceptions.
 *
 * <p><i>Memory.</i> What happens before a cancel happens before what follows {@link #isCancelled} that answers true,
 * and before the teardowns; so does what happens before the registration of a teardown.
 *
 * <p>All members but {@link #interruptible} may be called from any thread.
 */
public final class CancellationToken {
    private static final VarHandle STATE;
    private static final VarHandle RUNNER;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            STATE = lookup.findVarHandle(CancellationToken.class, "state", Object.class);
            RUNNER = lookup.findVarHandle(CancellationToken.class, "runner", Object.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // RUNNER: null → the function's thread → INTERRUPTING → INTERRUPTED; from its thread back to null when it ends.
    private static final Object INTERRUPTING = new Object();
    private static final Object INTERRUPTED = new Object();

    /** The last registered, before those registered before it. */
    record Teardown(Runnable action, @Nullable Teardown before) {}

    /** Whose function this is for, or null. */
    final @Nullable TaskScope scope;

    /** The function as the executor has it; null if there is none. */
    @Nullable
    FunctionTask<?> task;

    /** The stage whose completion is that of the work; null if there is none, or it has completed. */
    volatile @Nullable CompletionStage<?> source;

    /** Null or a Teardown while the work goes on, then an Completion for good. */
    private volatile @Nullable Object state;

    private volatile @Nullable Object runner;
    private volatile @Nullable Thread thread;

    CancellationToken(@Nullable TaskScope scope) {
        this.scope = scope;
    }

    /**
     * Registers what is to be done when the work is cancelled, or ends without a value in another way. Runs it at once,
     * on this thread, if that has happened already; does nothing if the function's value was taken.
     */
    public void onCancel(Runnable teardown) {
        Objects.requireNonNull(teardown, "teardown");
        for (; ; ) {
            Object now = state;
            if (now instanceof Completion completion) {
                if (completion.needsTeardown()) tearDown(teardown, completion);
                return;
            }
            if (STATE.compareAndSet(this, now, new Teardown(teardown, (Teardown) now))) return;
        }
    }

    /** Whether the work is no longer wanted. Once true, it stays true. */
    public boolean isCancelled() {
        return reason() != null;
    }

    /**
     * Why the work is no longer wanted: what was given to {@link CancellableFuture#cancel(Throwable)}, the exception it
     * was completed with from outside (a {@link java.util.concurrent.TimeoutException} for {@code orTimeout}), else a
     * {@link CancellationException}. Null while it is not cancelled.
     */
    public @Nullable Throwable reason() {
        Completion completion = completion();
        return completion == null ? null : completion.reason;
    }

    /**
     * Does nothing while the work is wanted.
     *
     * @throws CancellationException if it is not, with {@link #reason} as its cause
     */
    public void throwIfCancelled() {
        Throwable reason = reason();
        if (reason == null) return;
        CancellationException e = new CancellationException(reason.toString());
        e.initCause(reason);
        throw e;
    }

    /**
     * From now on and until the function ends, a cancel interrupts its thread: for functions that block in calls which
     * know of nothing else. At once if it is cancelled already. The thread is never interrupted before this call nor
     * after the function, and the interrupt is taken back if the function has not noticed it.
     *
     * @throws IllegalStateException if this is not the function's thread, or the function has ended
     */
    public void interruptible() {
        Thread current = Thread.currentThread();
        if (current != thread) {
            throw new IllegalStateException(
                    "interruptible() is for the thread that runs the function, while it does: " + current.getName());
        }
        RUNNER.compareAndSet(this, null, current);
        // Whoever cancels looks at `runner` after `state`, so one of us two sees the other.
        Completion completion = completion();
        if (completion != null && completion.reason != null) interrupt(completion);
    }

    @Nullable
    Completion completion() {
        return state instanceof Completion completion ? completion : null;
    }

    /** Decides how the work ends; false if that was decided before. Who decides tears down. */
    boolean end(Completion completion) {
        for (; ; ) {
            Object now = state;
            if (now instanceof Completion) return false;
            completion.registered = completion.needsTeardown() ? (Teardown) now : null;
            if (STATE.compareAndSet(this, now, completion)) return true;
        }
    }

    /** Runs what was registered before it ended. */
    void tearDown(Completion completion) {
        Teardown next = completion.registered;
        completion.registered = null;
        for (; next != null; next = next.before) tearDown(next.action, completion);
    }

    private static void tearDown(Runnable action, Completion completion) {
        try {
            action.run();
        } catch (Throwable e) {
            completion.attach(e);
        }
    }

    /** This thread now runs the function. */
    void begun() {
        thread = Thread.currentThread();
    }

    /** The function has ended: its thread is its own again. */
    void returned() {
        thread = null;
        Object now = runner;
        if (now == null || (now instanceof Thread && RUNNER.compareAndSet(this, now, null))) return;
        while (runner == INTERRUPTING) Thread.onSpinWait();
        var unused = Thread.interrupted();
    }

    void interrupt(Completion completion) {
        if (!(runner instanceof Thread running) || !RUNNER.compareAndSet(this, running, INTERRUPTING)) return;
        try {
            running.interrupt();
        } catch (Throwable e) { // of what the thread waits in, a channel say
            completion.attach(e);
        } finally {
            runner = INTERRUPTED;
        }
    }

    /** Code of this work runs on this thread from now on; the answer is for {@link #leave}. */
    boolean enter() {
        return scope != null && scope.enter();
    }

    void leave(boolean entered) {
        if (entered && scope != null) scope.leave();
    }

    @Override
    public String toString() {
        Completion completion = completion();
        if (completion == null) return "CancellationToken (active)";
        return "CancellationToken (" + (completion.reason == null ? "ended" : "cancelled: " + completion.reason) + ")";
    }
}
