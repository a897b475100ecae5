package baton.interop;

import baton.bridge.Durations;
import baton.interop.internal.cancel.TaskGroup;
import baton.interop.internal.futures.Timeout;
import baton.interop.internal.futures.VirtualThreads;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A scope for functions that belong together and do not outlive a block:
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
 * <p><i>Waiting.</i> {@link #join} waits until all forked functions and their teardowns have ended, including those
 * that the functions have forked themselves. {@link #close} cancels the running ones and waits for them too, so nothing
 * of the scope runs after the block.
 *
 * <p><i>Failure.</i> The first function that fails cancels all others, with its failure as the reason; {@link #join}
 * throws it, with later failures as suppressed. In an independent scope the others run on. A future that was completed
 * with an exception from outside, or by {@code orTimeout}, has failed; a cancelled future has not. A function forked
 * after the scope has failed, or after a join has timed out, is cancelled before it begins.
 *
 * <p><i>Cancellation.</i> Cancelling a future of the scope, or all stages derived from it, cancels that one alone.
 * {@link #join} ends early when its thread is interrupted.
 *
 * <p><i>Callbacks.</i> Functions run on the given executor, which must run them while a thread waits here. The scope
 * has no thread of its own, except one opened by {@link #openVirtual}. {@link CancellationToken} says where callbacks
 * and teardowns run.
 *
 * <p><i>Memory.</i> Actions of the forked functions happen before the actions that follow a join or a close.
 *
 * <p><i>Misuse.</i> {@link #join} and {@link #close} from within a function, a teardown or a callback of the scope
 * would wait for themselves, and throw {@link IllegalStateException}; so does a {@link #fork} after {@link #close}. All
 * members may be called from any thread.
 */
public final class TaskScope implements AutoCloseable {
    private final Executor executor;

    /** The executor if the scope has to shut it down, or null. */
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
     * As {@link #open}, with a virtual thread for each function; {@link #close} also waits until those threads have
     * ended.
     *
     * @throws UnsupportedOperationException before JDK 21
     */
    public static TaskScope openVirtual() {
        ExecutorService threads = VirtualThreads.open();
        return new TaskScope(threads, threads, false, null);
    }

    /**
     * As the other, with a name that messages and {@code toString} show. The threads are named {@code name-1}, {@code
     * name-2} and so on.
     */
    public static TaskScope openVirtual(String name) {
        ExecutorService threads = VirtualThreads.open(Objects.requireNonNull(name, "name"));
        return new TaskScope(threads, threads, false, name);
    }

    /**
     * Runs the function on the executor, as {@link CancellableFuture#supply}. Never waits. If the scope has failed, or
     * a join has timed out, the future is cancelled for that reason and the function never begins.
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

    /** As {@link #fork(CancellableFunction)}, for a function without a token. */
    public <T extends @Nullable Object> CancellableFuture<T> fork(Callable<? extends T> function) {
        Objects.requireNonNull(function, "function");
        return fork(token -> function.call());
    }

    /**
     * Waits until all forked functions have ended.
     *
     * @throws ExecutionException if a function has failed; its cause is the first failure, with the others as
     *     suppressed
     * @throws InterruptedException if this thread is interrupted; the functions run on
     * @throws IllegalStateException within the scope
     */
    public void join() throws InterruptedException, ExecutionException {
        throwIfInside("join");
        CompletableFuture<@Nullable Void> end = group.awaitEnd();
        try {
            end.get();
        } finally {
            end.cancel(false);
        }
        rethrow();
    }

    /**
     * As {@link #join()}, but cancels the functions that have not ended in time. They may go on for a while, and {@link
     * #close} waits for them. With zero or less it does not wait. The timeout is rounded up to whole milliseconds.
     *
     * @throws TimeoutException if the timeout has passed; if a function has failed, with the failure as suppressed
     */
    public void join(Duration timeout) throws InterruptedException, ExecutionException, TimeoutException {
        long millis = Timeout.millis(timeout);
        throwIfInside("join");
        CompletableFuture<@Nullable Void> end = group.awaitEnd();
        try {
            end.get(millis, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            TimeoutException late = new TimeoutException("not ended within " + Durations.textOf(timeout) + ": " + this);
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
     * Cancels the running functions, and waits until all functions and teardowns have ended, however long that takes;
     * an interrupt does not end the wait. A second close only waits.
     *
     * @throws IllegalStateException within the scope; it stays open
     */
    @Override
    public void close() {
        throwIfInside("close");
        group.close();
        group.stop(new CancellationException("closed: " + this));
        group.awaitEnd().join();
        if (owned != null) VirtualThreads.close(owned);
    }

    private void throwIfInside(String call) {
        if (group.isInside()) {
            throw new IllegalStateException(call + " from within the scope would wait for itself: " + this);
        }
    }

    @Override
    public String toString() {
        return "TaskScope" + (name == null ? "" : " '" + name + "'") + " (" + group.describe() + ")";
    }
}
