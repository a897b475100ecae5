package baton.interop.internal.futures;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Function;
import kotlinx.coroutines.Job;
import org.jspecify.annotations.Nullable;

/**
 * The future of a call that waits for other processes. What the call gets after this has been completed from outside is
 * closed, if it can be.
 */
public final class SharedCallFuture<T extends @Nullable Object> extends RevocableFuture<T> {
    private final Object primitive;
    private final String call;
    private final @Nullable Executor context = CallerContext.executor(null);

    /** The call; null until it has begun to wait. */
    private volatile @Nullable Job running;

    private SharedCallFuture(String call, Object primitive) {
        this.call = call;
        this.primitive = primitive;
    }

    /**
     * Starts a call.
     *
     * @param call its name, for messages
     * @param begin begins to wait, and tells the result or the failure to its argument, at once or later
     */
    public static <T extends @Nullable Object> CompletableFuture<T> start(
            String call, Object primitive, Function<BiConsumer<@Nullable T, @Nullable Throwable>, Job> begin) {
        SharedCallFuture<T> future = new SharedCallFuture<>(call, primitive);
        Job job = begin.apply(future::decided);
        future.running = job;
        return future;
    }

    private void decided(@Nullable T result, @Nullable Throwable failure) {
        if (failure == null) {
            CallbackExecutor.run(context, () -> {
                if (!succeed(result)) close(result);
            });
        } else if (!(failure instanceof CancellationException)) {
            CallbackExecutor.run(context, () -> fail(failure));
        }
    }

    private static void close(@Nullable Object result) {
        if (result instanceof AutoCloseable resource) {
            try {
                resource.close();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @Override
    protected void withdraw() {
        cancelRunning();
    }

    @Override
    protected void cancelRunning() {
        Job job = running;
        if (job != null) job.cancel(null);
    }

    @Override
    protected String call() {
        return call + " of " + primitive;
    }

    @Override
    protected String description() {
        return call();
    }
}
