package baton.interop.internal.cancel;

import baton.interop.AsyncWaitGroup;
import baton.interop.internal.futures.Stages;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The futures of a {@link baton.interop.TaskScope} that have not ended, and how the first failure stops them. */
public final class TaskGroup {
    private final boolean isIndependent;
    private final AsyncWaitGroup unended = AsyncWaitGroup.create();
    private final Set<WorkNode<?>> running = ConcurrentHashMap.newKeySet();

    /** The threads that run code of the scope. */
    private final Set<Thread> inside = ConcurrentHashMap.newKeySet();

    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    /** The reason with which all futures are to be cancelled. */
    private final AtomicReference<@Nullable Throwable> stopped = new AtomicReference<>();

    private volatile boolean closed;

    /**
     * An empty group.
     *
     * @param isIndependent whether a failure leaves the other futures running
     */
    public TaskGroup(boolean isIndependent) {
        this.isIndependent = isIndependent;
    }

    /** Adds a future that has not started; false if the group is closed. */
    public boolean add(WorkNode<?> future) {
        unended.add();
        if (closed) {
            unended.done();
            return false;
        }
        running.add(future);
        return true;
    }

    /**
     * The reason with which a future that was just added is to be cancelled instead of started, or null. The thread
     * that stops the group reads {@code running} after it has written {@code stopped}, so at least one of the two
     * threads cancels the future.
     */
    public @Nullable Throwable stopReason() {
        return stopped.get();
    }

    /** A future that completes once all futures of the group have ended. */
    public CompletableFuture<@Nullable Void> awaitEnd() {
        return unended.await();
    }

    /** The first failure, with the later ones as suppressed; null if there is none. */
    public @Nullable Throwable failure() {
        return failure.get();
    }

    /** Refuses further futures. */
    public void close() {
        closed = true;
    }

    /** Cancels all futures of the group, and those added later. */
    public void stop(Throwable reason) {
        stop(reason, null);
    }

    private void stop(Throwable reason, @Nullable WorkNode<?> except) {
        stopped.compareAndSet(null, reason);
        for (WorkNode<?> future : running) {
            if (future != except) future.cancel(reason);
        }
    }

    /** The future has failed. It is not cancelled by this: it ends by itself, after its teardowns. */
    void failed(WorkNode<?> future, Throwable thrown) {
        Throwable why = Stages.unwrap(thrown);
        if (why instanceof CancellationException) return;
        Throwable first = failure.compareAndExchange(null, why);
        if (first == null) {
            if (!isIndependent) stop(why, future);
        } else if (first != why) {
            first.addSuppressed(why);
        }
    }

    /** Nothing goes on for the future any more. */
    void terminated(WorkNode<?> future) {
        running.remove(future);
        unended.done();
    }

    /** Whether the current thread runs code of the scope. */
    public boolean isInside() {
        return inside.contains(Thread.currentThread());
    }

    /** False if the current thread runs code of the scope already. */
    boolean enterThread() {
        return inside.add(Thread.currentThread());
    }

    void leaveThread() {
        inside.remove(Thread.currentThread());
    }

    /** How the group is, in words. */
    public String describe() {
        String state =
                closed ? "closed, " : failure.get() != null ? "failed, " : stopped.get() != null ? "stopped, " : "";
        return state + "running = " + running.size();
    }
}
