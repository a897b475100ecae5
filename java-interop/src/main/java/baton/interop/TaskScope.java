package baton.interop;

import baton.interop.internal.cancel.TaskGroup;
import baton.interop.internal.futures.Timeout;
import baton.interop.internal.futures.VirtualThreads;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Work that belongs together and does not outlive a block:
 *
 * <pre>{@code
 * try (TaskScope scope = TaskScope.open(executor)) {
 *     CancellableFuture<User> user = scope.fork(token -> loadUser(id));
 *     CancellableFuture<Cart> cart = scope.fork(token -> loadCart(id));
 *     scope.join();
 *     return render(user.join(), cart.join());
 * }
 * }</pre>
 *
 * <p><i>Waiting.</i> {@link #join} waits until all that was forked has ended, function and teardowns, also what the
 * functions forked themselves. {@link #close} cancels what still runs and waits for that too, so nothing of the scope
 * runs after the block.
 *
 * <p><i>Failure.</i> The first function that fails cancels all others, with its failure as the reason; {@link #join}
 * throws it, with the failures that came later as suppressed. In an independent scope the others run on. A future that
 * was completed with an exception from outside, or by {@code orTimeout}, has failed; one that was cancelled has not.
 * What is forked when the scope has failed, or a join has timed out, is cancelled before it begins.
 *
 * <p><i>Cancellation.</i> Cancelling a future of the scope, or all stages derived from it, cancels that one alone.
 * {@link #join} ends early when its thread is interrupted.
 *
 * <p><i>CallbackExecutor.</i> Functions run on the executor given, which must run what it is given while somebody waits here;
 * the scope has no thread of its own, but for one opened by {@link #openVirtual}. Where callbacks and teardowns run is
 * told at {@link CancellationToken}.
 *
 * <p><i>Memory.</i> What the forked functions did happens before whatever follows a join or a close.
 *
 * <p><i>Misuse.</i> {@link #join} and {@link #close} from within a function, a teardown or a callback of the scope
 * would wait for themselves: {@link IllegalStateException}, as for a {@link #fork} after {@link #close}. All members
 * may be called from any thread.
 */
public final class TaskScope implements AutoCloseable {
    private final Executor executor;

    /** The executor if it is ours to shut down. */
    private final @Nullable ExecutorService owned;

    private final @Nullable String name;
    private final TaskGroup group;

    private TaskScope(Executor executor, @Nullable ExecutorService owned, boolean independent, @Nullable String name) {
        this.executor = Objects.requireNonNull(executor, "executor");
        this.owned = owned;
        this.name = name;
        this.group = new TaskGroup(independent);
    }

    /** A scope in which the first failure cancels all others. */
    public static TaskScope open(Executor executor) {
        return new TaskScope(executor, null, false, null);
    }

    /** As the other, with a name that messages and {@code toString} show. */
    public static TaskScope open(Executor executor, String name) {
        return new TaskScope(executor, null, false, Objects.requireNonNull(name, "name"));
    }

    /** A scope in which a failure cancels nothing; {@link #join} throws the first one when all have ended. */
    public static TaskScope openIndependent(Executor executor) {
        return new TaskScope(executor, null, true, null);
    }

    /** As the other, with a name that messages and {@code toString} show. */
    public static TaskScope openIndependent(Executor executor, String name) {
        return new TaskScope(executor, null, true, Objects.requireNonNull(name, "name"));
    }

    /**
     * As {@link #open}, with a virtual thread for every function; {@link #close} waits until those threads have nothing
     * more to run.
     *
     * @throws UnsupportedOperationException before JDK 21
     */
    public static TaskScope openVirtual() {
        ExecutorService threads = VirtualThreads.open();
        return new TaskScope(threads, threads, false, null);
    }

    /** As the other, with a name that messages and {@code toString} show. */
    public static TaskScope openVirtual(String name) {
        Objects.requireNonNull(name, "name");
        ExecutorService threads = VirtualThreads.open();
        return new TaskScope(threads, threads, false, name);
    }

    /**
     * Runs the function on the executor, as {@link CancellableFuture#supply}. Never waits. When the scope has failed,
     * or a join has timed out, the future is cancelled for that reason and the function never begins.
     *
     * @throws IllegalStateException if the scope is closed
     */
    public <T extends @Nullable Object> CancellableFuture<T> fork(CancellableFunction<? extends T> function) {
        CancellableFuture<T> future = CancellableFuture.prepare(function, group);
        if (!group.add(future)) throw new IllegalStateException("closed: " + this);
        Throwable reason = group.stopReason();
        if (reason == null) future.start(executor);
        else future.cancel(reason);
        return future;
    }

    /**
     * Waits until all that was forked has ended.
     *
     * @throws ExecutionException if one has failed, the first as its cause, which has the others as suppressed
     * @throws InterruptedException if this thread is interrupted; what runs, runs on
     * @throws IllegalStateException within the scope
     */
    public void join() throws InterruptedException, ExecutionException {
        refuseInside("join");
        CompletableFuture<@Nullable Void> end = group.awaitEnd();
        try {
            end.get();
        } finally {
            end.cancel(false);
        }
        rethrow();
    }

    /**
     * As {@link #join()}, but cancels all that has not ended in time, which may go on for a while; {@link #close} waits
     * for it. Zero and less mean now or not at all. The timeout is rounded up to whole milliseconds.
     *
     * @throws TimeoutException if the time is over, also when one has failed; the failure is suppressed then
     */
    public void join(Duration timeout) throws InterruptedException, ExecutionException, TimeoutException {
        long millis = Timeout.millis(timeout);
        refuseInside("join");
        CompletableFuture<@Nullable Void> end = group.awaitEnd();
        try {
            end.get(millis, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            TimeoutException late = new TimeoutException("not ended within " + timeout + ": " + this);
            Throwable before = group.failure();
            if (before != null) late.addSuppressed(before);
            group.stop(late);
            throw late;
        } finally {
            end.cancel(false);
        }
        rethrow();
    }

    private void rethrow() throws ExecutionException {
        Throwable first = group.failure();
        if (first != null) throw new ExecutionException(first);
    }

    /**
     * Cancels what still runs, and waits until all functions and teardowns have ended, however long that takes; an
     * interrupt does not end it. Closing it again only waits.
     *
     * @throws IllegalStateException within the scope; it stays open
     */
    @Override
    public void close() {
        refuseInside("close");
        group.close();
        group.stop(new CancellationException("closed: " + this));
        group.awaitEnd().join();
        if (owned != null) VirtualThreads.close(owned);
    }

    private void refuseInside(String call) {
        if (group.isInside()) {
            throw new IllegalStateException(call + " from within the scope would wait for itself: " + this);
        }
    }

    @Override
    public String toString() {
        return "TaskScope" + (name == null ? "" : " '" + name + "'") + " (" + group.describe() + ")";
    }
}
