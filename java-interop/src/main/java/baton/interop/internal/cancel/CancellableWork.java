package baton.interop.internal.cancel;

import baton.interop.CancellationToken;
import baton.interop.internal.futures.FieldHandle;
import baton.interop.internal.futures.Interruption;
import baton.interop.internal.futures.Stages;
import baton.waiting.Parking;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The work behind the first future of a chain, a function or a stage: how it ended, its teardowns, and the interrupt of
 * the function's thread. A {@link CancellationToken} shows it to the function.
 */
public final class CancellableWork {
    private static final VarHandle STATE = FieldHandle.of(MethodHandles.lookup(), "state", Object.class);

    /** The teardown registered last; {@code before} are those registered before it. */
    record Teardown(Runnable action, @Nullable Teardown before) {}

    /** The scope that the function belongs to, or null. */
    final @Nullable TaskGroup group;

    /** The function as the executor has it; null if there is none. */
    @Nullable
    FunctionTask<?> task;

    /** The stage whose completion is that of the work; null if there is none, or it has completed. */
    volatile @Nullable CompletionStage<?> source;

    /** Null or a Teardown while the work goes on; a Completion from then on. */
    private volatile @Nullable Object state;

    /** Null until the function has asked to be interrupted. Written by its thread. */
    private volatile @Nullable Interruption interruption;

    private volatile @Nullable Thread thread;

    public CancellableWork(@Nullable TaskGroup group) {
        this.group = group;
    }

    /** See {@link CancellationToken#onCancel}. */
    public void addTeardown(Runnable teardown) {
        for (; ; ) {
            Object now = state;
            if (now instanceof Completion completion) {
                if (completion.needsTeardown()) tearDown(teardown, completion);
                return;
            }
            if (STATE.compareAndSet(this, now, new Teardown(teardown, (Teardown) now))) return;
        }
    }

    /** See {@link CancellationToken#reason}. */
    public @Nullable Throwable reason() {
        Completion completion = completion();
        return completion == null ? null : completion.reason;
    }

    /** See {@link CancellationToken#interruptible}. */
    public void interruptFromNowOn() {
        Thread current = Thread.currentThread();
        if (current != thread) {
            throw new IllegalStateException("interruptible() is for the thread that runs the function, while it does: "
                    + Parking.nameOf(current));
        }
        if (interruption == null) {
            Interruption begun = new Interruption();
            begun.begin();
            interruption = begun;
        }
        // A canceller reads `interruption` after it has written `state`, so at least one of the two threads interrupts.
        Completion completion = completion();
        if (completion != null && completion.reason != null) interrupt(completion);
    }

    @Nullable
    Completion completion() {
        return state instanceof Completion completion ? completion : null;
    }

    /** Decides how the work ends; false if that was decided before. The thread that decides runs the teardowns. */
    boolean end(Completion completion) {
        for (; ; ) {
            Object now = state;
            if (now instanceof Completion) return false;
            completion.registered = completion.needsTeardown() ? (Teardown) now : null;
            if (STATE.compareAndSet(this, now, completion)) return true;
        }
    }

    /** Runs the teardowns that were registered before the work ended. */
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

    /** The current thread begins to run the function. */
    void functionBegins() {
        thread = Thread.currentThread();
    }

    /** The function has ended: after this, no cancel interrupts its thread any more. */
    void functionReturned() {
        thread = null;
        Interruption begun = interruption;
        if (begun != null) {
            boolean unused = begun.end();
        }
    }

    void interrupt(Completion completion) {
        Interruption begun = interruption;
        if (begun == null) return;
        try {
            begun.interrupt();
        } catch (Throwable e) { // of what the thread waits in, a channel for example
            completion.attach(e);
        }
    }

    /** From now on, the current thread runs code of this work. The result is the argument of {@link #leaveThread}. */
    boolean enterThread() {
        return group != null && group.enterThread();
    }

    void leaveThread(boolean entered) {
        if (entered && group != null) group.leaveThread();
    }

    /** The work in the description of its future: the function and its thread, or the stage. */
    String description() {
        if (task == null) {
            CompletionStage<?> stage = source;
            return stage == null ? "a stage" : Stages.describe(stage);
        }
        if (task.isQueued()) return "a function (queued)";
        Thread running = thread;
        return "a function" + (running == null ? "" : " (running, thread = " + Parking.nameOf(running) + ")");
    }

    /** How the work is, in words. */
    public String describe() {
        Completion completion = completion();
        if (completion == null) return "active";
        return completion.reason == null ? "ended" : "cancelled: " + completion.reason;
    }
}
