package baton.interop.internal.futures;

import baton.shared.SharedPermit;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Function;
import kotlinx.coroutines.Job;
import org.jspecify.annotations.Nullable;

/**
 * The future of a call that waits for other processes. A permit that arrives after the request was withdrawn is
 * closed.
 */
public final class SharedCallFuture<T extends @Nullable Object> extends SharedFuture<T> {
    private final String call;
    private final String label;
    private final Object primitive;
    private final @Nullable Executor context = CallerContext.executor(null);

    private SharedCallFuture(String call, String label, Object primitive) {
        this.call = call;
        this.label = label;
        this.primitive = primitive;
    }

    /**
     * Starts a call.
     *
     * @param call its name, for messages
     * @param label the primitive without its state: a file that was cut must not be read
     * @param begin starts the call, and passes its result or failure to the argument, at once or later
     */
    public static <T extends @Nullable Object> CompletableFuture<T> start(
            String call,
            String label,
            Object primitive,
            Function<BiConsumer<@Nullable T, @Nullable Throwable>, Job> begin) {
        SharedCallFuture<T> future = new SharedCallFuture<>(call, label, primitive);
        future.waitBy(begin.apply(future::decided));
        return future;
    }

    @Override
    @Nullable
    Executor context() {
        return context;
    }

    @Override
    void discard(@Nullable T result) {
        if (result instanceof SharedPermit permit) permit.close();
    }

    @Override
    protected String call() {
        return call + " of " + label;
    }

    @Override
    protected String description() {
        return call + " of " + primitive;
    }
}
