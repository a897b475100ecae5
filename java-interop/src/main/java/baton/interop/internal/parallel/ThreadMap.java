package baton.interop.internal.parallel;

import baton.interop.BlockingFunction;
import baton.interop.internal.futures.CallerContext;
import baton.interop.internal.futures.Stages;
import baton.interop.internal.futures.VirtualThreads;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.function.Function;
import kotlinx.coroutines.Dispatchers;
import kotlinx.coroutines.ExecutorsKt;
import org.jspecify.annotations.Nullable;

/** A parallel map for whose end the calling thread waits. */
public final class ThreadMap<T extends @Nullable Object> {
    private final CountDownLatch over = new CountDownLatch(1);
    private final ListPump<T> pump;

    // Written before the latch opens.
    private @Nullable Object results;
    private @Nullable Throwable failure;

    private ThreadMap(
            MapKind kind, Iterable<? extends T> items, BlockingFunction<? super T, ?> function, Executor executor) {
        pump = new ListPump<>(
                kind, items.iterator(), CallerContext.function(startingOn(executor, function)), (results, failure) -> {
                    this.results = results;
                    this.failure = failure;
                    over.countDown();
                });
    }

    private static <T extends @Nullable Object> Function<T, CompletionStage<?>> startingOn(
            Executor executor, BlockingFunction<? super T, ?> function) {
        return element -> {
            ThreadCall<Object> call = new ThreadCall<>(() -> function.apply(element));
            executor.execute(CallerContext.runnable(call));
            return call;
        };
    }

    /** Virtual threads; before JDK 21 those of {@code Dispatchers.IO}, which are made for calls that block. */
    public static Executor defaultExecutor() {
        return DefaultExecutor.INSTANCE;
    }

    private static final class DefaultExecutor {
        static final Executor INSTANCE =
                Runtime.version().feature() >= 21 ? VirtualThreads.open() : ExecutorsKt.asExecutor(Dispatchers.getIO());
    }

    /** Returns the results, none if the kind wants none. */
    @SuppressWarnings("unchecked") // the kind says of what type the results are
    public static <T extends @Nullable Object, V extends @Nullable Object> List<V> call(
            MapKind kind, Iterable<? extends T> items, BlockingFunction<? super T, ?> function, Executor executor)
            throws Exception {
        Objects.requireNonNull(items, "items");
        if (Thread.interrupted()) throw new InterruptedException();
        ThreadMap<T> map = new ThreadMap<>(kind, items, function, executor);
        map.run();
        if (map.failure != null) throw Stages.asException(map.failure);
        Object results = map.results;
        return results == null ? List.of() : (List<V>) results;
    }

    /** As {@link #call} for a kind that settles, so that it throws what the source throws alone. */
    public static <T extends @Nullable Object, V extends @Nullable Object> List<V> settle(
            MapKind kind, Iterable<? extends T> items, BlockingFunction<? super T, ?> function, Executor executor)
            throws InterruptedException {
        try {
            return call(kind, items, function, executor);
        } catch (InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError("an iterator threw a checked exception", e);
        }
    }

    private void run() throws InterruptedException {
        pump.signal();
        try {
            over.await();
        } catch (InterruptedException e) {
            pump.stop();
            pump.cancelRunning();
            awaitOver();
            attachFailures(e);
            throw e;
        }
    }

    /** Another interrupt does not end this wait; the thread stays interrupted then. */
    private void awaitOver() {
        boolean isInterrupted = false;
        while (over.getCount() > 0) {
            try {
                over.await();
            } catch (InterruptedException again) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) Thread.currentThread().interrupt();
    }

    private void attachFailures(InterruptedException thrown) {
        Throwable first = failure;
        if (first == null) return; // all had ended when the interrupt came
        attach(thrown, first);
        for (Throwable other : first.getSuppressed()) attach(thrown, other);
    }

    /** Those that are due to the interrupt itself say nothing. */
    private static void attach(InterruptedException thrown, Throwable failure) {
        boolean isDue = failure instanceof InterruptedException || failure instanceof CancellationException;
        if (!isDue) thrown.addSuppressed(failure);
    }
}
