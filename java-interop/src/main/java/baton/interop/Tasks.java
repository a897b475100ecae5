package baton.interop;

import baton.interop.internal.parallel.MapFuture;
import baton.interop.internal.parallel.MapKind;
import baton.parallel.Outcome;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Parallel maps with a bound: a function that answers a stage is called for each element, and at most {@code limit} of
 * its stages are incomplete at a time.
 *
 * <pre>{@code
 * CompletableFuture<List<String>> pages = Tasks.mapLimit(urls, 5, this::fetch);
 * }</pre>
 *
 * <p><em>Laziness.</em> An element is pulled only when there is a place for it. The source may be endless; it is used by
 * one thread at a time, and each use sees what the one before it did.
 *
 * <p><em>Threads.</em> Source and function are called by the thread that calls the method, and then by the threads that
 * complete the stages, one at a time; a function that blocks holds up the whole map. No thread and no coroutine is
 * started. Stages that are complete when they are returned need no stack: there may be any number of them.
 *
 * <p><em>Failures.</em> After the first failure nothing is pulled any more; the stages that are incomplete are awaited;
 * then the future fails with the first failure, in which the others are suppressed. A function that throws or returns
 * null, and a source that throws, are failures like any other. Causes come without CompletionException around them.
 *
 * <p><em>Cancellation.</em> To cancel the future, to complete it from outside and to let its timeout expire stop the
 * pulling and cancel the stages that are incomplete.
 *
 * <p><em>Memory.</em> Actions of the function, and those before its stage completes, happen before the future is seen
 * completed.
 *
 * <p><em>Misuse.</em> A limit below 1 is an IllegalArgumentException at the call, before anything is pulled; so is
 * {@code maxFailures} below 1.
 *
 * <p>All methods may be called from any thread.
 */
public final class Tasks {
    private Tasks() {}

    /** The results of the function for all elements, in the order of the elements. */
    public static <T extends @Nullable Object, R extends @Nullable Object> CompletableFuture<List<R>> mapLimit(
            Iterable<? extends T> items,
            int limit,
            Function<? super T, ? extends CompletionStage<? extends R>> function) {
        return start(MapKind.mapLimit(limit), items, function);
    }

    /** As {@link #mapLimit(Iterable, int, Function)}. The stream is closed at the end. */
    public static <T extends @Nullable Object, R extends @Nullable Object> CompletableFuture<List<R>> mapLimit(
            Stream<? extends T> items,
            int limit,
            Function<? super T, ? extends CompletionStage<? extends R>> function) {
        MapKind kind = MapKind.mapLimit(limit);
        Objects.requireNonNull(function, "function");
        Iterator<? extends T> elements = items.iterator();
        return MapFuture.start(kind, elements, function, items::close);
    }

    /** One outcome for each element, in the order of the elements. The future fails only if the source does. */
    public static <T extends @Nullable Object, R extends @Nullable Object>
            CompletableFuture<List<Outcome<R>>> mapSettled(
                    Iterable<? extends T> items,
                    int limit,
                    Function<? super T, ? extends CompletionStage<? extends R>> function) {
        return mapSettled(items, limit, Integer.MAX_VALUE, function);
    }

    /**
     * As {@link #mapSettled(Iterable, int, Function)}, but nothing is started after so many failures: the other elements
     * are {@link Outcome.NotStarted}.
     *
     * @param maxFailures the number of failures, at least 1
     */
    public static <T extends @Nullable Object, R extends @Nullable Object>
            CompletableFuture<List<Outcome<R>>> mapSettled(
                    Iterable<? extends T> items,
                    int limit,
                    int maxFailures,
                    Function<? super T, ? extends CompletionStage<? extends R>> function) {
        return start(MapKind.mapSettled(limit, maxFailures, true), items, function);
    }

    /** Calls the function for all elements; the values of its stages are dropped. */
    public static <T extends @Nullable Object> CompletableFuture<@Nullable Void> forEachLimit(
            Iterable<? extends T> items, int limit, Function<? super T, ? extends CompletionStage<?>> function) {
        return start(MapKind.forEachLimit(limit), items, function);
    }

    private static <T extends @Nullable Object, V extends @Nullable Object> CompletableFuture<V> start(
            MapKind kind, Iterable<? extends T> items, Function<? super T, ? extends CompletionStage<?>> function) {
        Objects.requireNonNull(function, "function");
        return MapFuture.start(kind, items.iterator(), function, () -> {});
    }
}
