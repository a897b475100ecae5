package baton.interop;

import baton.waiting.FlatStack;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * Runs a call where its executor put it, and then, on the same thread, the one that got its place, and so on. A call
 * whose stage has not ended when its supplier returns leaves the row: whoever has its place next gets another.
 *
 * <p>To hand over each call to the executor would cost more than most calls do: it wakes a thread up. The executor sees
 * one command instead, of up to {@link #MOST} calls. After that the next one goes to the end of the executor's queue,
 * so that others who use it have their turn; and at once, if the executor is one of ours that knows levels.
 */
final class TaskRow implements Runnable {
    private static final int MOST = 16;
    private static final VarHandle NEXT;

    static {
        try {
            NEXT = MethodHandles.lookup().findVarHandle(TaskRow.class, "next", ScheduledCall.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Executor executor;

    /** Whoever takes it has it run. */
    private volatile @Nullable ScheduledCall<?, ?> next;

    /** On which it runs now. Others only compare it with themselves, and so never find it by mistake. */
    private @Nullable Thread thread;

    /** How many calls may yet begin in it. Of its thread. */
    private int left;

    TaskRow(Executor executor, @Nullable ScheduledCall<?, ?> first) {
        this.executor = executor;
        this.next = first;
        this.left = executor instanceof ManagedExecutor ? 1 : MOST;
    }

    /** Has {@code call} run when the one that runs now has ended; false if that is to be done elsewhere. */
    boolean follow(ScheduledCall<?, ?> call, Executor on) {
        Thread current = Thread.currentThread();
        if (thread != current || on != executor || left == 0 || next != null) return false;
        // What an executor does when it is shut down, or with an interrupt that a command has left, is its own affair.
        if (current.isInterrupted() || (on instanceof ExecutorService service && service.isShutdown())) return false;
        next = call;
        return true;
    }

    /** The call that is next, for whoever calls this to have it run. */
    @Nullable
    ScheduledCall<?, ?> take() {
        return next == null ? null : (ScheduledCall<?, ?>) NEXT.getAndSet(this, null);
    }

    /** As {@link #take()}, if {@code call} is next. */
    boolean take(ScheduledCall<?, ?> call) {
        return next == call && NEXT.compareAndSet(this, call, null);
    }

    @Override
    public void run() {
        thread = Thread.currentThread();
        for (ScheduledCall<?, ?> call = take(); call != null; call = take()) {
            left--;
            try {
                call.runIn(this);
            } catch (Throwable e) {
                FlatStack.report(e);
            }
        }
        thread = null;
    }
}
