package baton.interop.internal.parallel;

import baton.interop.internal.futures.CallerContext;
import baton.interop.internal.futures.RevocableFuture;
import java.util.Iterator;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The future of a parallel map. It keeps neither the source nor the mapper once the map is over, because it may be kept
 * for its value.
 */
public final class MapFuture<V extends @Nullable Object> extends RevocableFuture<V> {
    private final MapKind kind;
    private volatile @Nullable ListPump<?> pump;

    private MapFuture(MapKind kind) {
        this.kind = kind;
    }

    /**
     * Starts the map on this thread.
     *
     * @param <V> the type of the result that the kind stands for
     * @param close runs when nothing more is pulled and the map is over
     */
    public static <T extends @Nullable Object, V extends @Nullable Object> MapFuture<V> start(
            MapKind kind,
            Iterator<? extends T> source,
            Function<? super T, ? extends CompletionStage<?>> mapper,
            Runnable close) {
        MapFuture<V> future = new MapFuture<>(kind);
        ListPump<T> pump = new ListPump<>(kind, source, CallerContext.function(mapper), (result, failure) -> {
            ListPump<?> over = future.pump;
            future.pump = null;
            Throwable why = failure;
            try {
                close.run();
            } catch (Throwable e) {
                if (why == null) why = e;
                else if (why != e) why.addSuppressed(e);
            }
            // A thread that withdraws the call completes the future itself, with an outcome of its own.
            if (over == null || !over.isStopped()) future.end(result, why);
        });
        future.pump = pump;
        pump.signal();
        return future;
    }

    @SuppressWarnings("unchecked") // the kind says of what type the result is
    private void end(@Nullable Object result, @Nullable Throwable failure) {
        endAfterStage((V) result, failure);
    }

    @Override
    protected void withdraw() {
        ListPump<?> current = pump;
        if (current != null) current.stop();
    }

    @Override
    protected void cancelRunning() {
        ListPump<?> current = pump;
        if (current != null) current.cancelRunning();
    }

    @Override
    protected String call() {
        return kind.name();
    }

    @Override
    protected String description() {
        ListPump<?> current = pump;
        return current == null ? kind.toString() : current.toString();
    }
}
