package baton.interop.internal.futures;

import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import kotlinx.coroutines.Job;
import org.jspecify.annotations.Nullable;

/**
 * The future of a call that waits for a store, by its job. A thread that completes this from outside cancels the job
 * first. A result that arrives after that is closed if it is a lease.
 */
public final class JobFuture<T extends @Nullable Object> extends RevocableFuture<T> {
    private final String call;
    private final Object primitive;
    private final boolean isLease;
    private final @Nullable Executor context = CallerContext.executor(null);

    private volatile boolean isWithdrawn;

    /** Null until the call has begun. */
    private volatile @Nullable Job job;

    private JobFuture(String call, Object primitive, boolean isLease) {
        this.call = call;
        this.primitive = primitive;
        this.isLease = isLease;
    }

    /**
     * Starts a call.
     *
     * @param call its name, for messages
     * @param isLease whether the result is to be closed if it comes too late
     * @param begin starts the call, and passes its result or failure to the argument, at once or later
     */
    public static <T extends @Nullable Object> CompletableFuture<T> start(
            String call,
            Object primitive,
            boolean isLease,
            Function<BiConsumer<@Nullable T, @Nullable Throwable>, Job> begin) {
        JobFuture<T> future = new JobFuture<>(call, primitive, isLease);
        future.job = begin.apply(future::ended);
        return future;
    }

    private void ended(@Nullable T result, @Nullable Throwable failure) {
        // The withdrawing thread completes this.
        if (failure instanceof CancellationException && isWithdrawn) return;
        CallbackExecutor.run(context, () -> {
            if (failure != null) fail(failure);
            else if (!succeed(result) && isLease) discard(result);
        });
    }

    private static void discard(@Nullable Object result) {
        Object held = result instanceof Optional<?> optional ? optional.orElse(null) : result;
        if (held instanceof AutoCloseable lease) StageGuard.closeUnused(lease);
    }

    @Override
    protected void withdraw() {
        if (isDone()) return;
        isWithdrawn = true;
        cancelRunning();
    }

    @Override
    protected void cancelRunning() {
        Job running = job;
        if (running != null) running.cancel(null);
    }

    @Override
    protected String call() {
        return call + " of " + primitive;
    }

    @Override
    protected String description() {
        return call();
    }

    /**
     * Blocks the thread until the future of the request has completed. An interrupt withdraws it.
     *
     * @throws X as the future fails
     */
    public static <T extends @Nullable Object, X extends Exception> T await(Supplier<CompletableFuture<T>> request)
            throws InterruptedException, X {
        if (Thread.interrupted()) throw new InterruptedException();
        CompletableFuture<T> future = request.get();
        try {
            return future.get();
        } catch (InterruptedException e) {
            if (future.cancel(false)) throw e;
            Thread.currentThread().interrupt(); // The result came just before.
            return joined(future);
        } catch (ExecutionException e) {
            return joined(future);
        }
    }

    private static <T extends @Nullable Object, X extends Exception> T joined(CompletableFuture<T> future) throws X {
        if (future.isCompletedExceptionally()) JobFuture.<X>throwAs(Stages.failure(future));
        return future.join();
    }

    /** The type of the exception is the caller's to name. */
    @SuppressWarnings(
            "unchecked") // erased: each exception of such a call is one that its method declares, or unchecked
    private static <X extends Exception> void throwAs(@Nullable Throwable failure) throws X {
        if (failure instanceof Error error) throw error;
        if (failure instanceof Exception exception) throw (X) exception;
    }
}
