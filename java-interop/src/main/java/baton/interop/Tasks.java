package baton.interop;

import baton.interop.internal.parallel.BlockingThreads;
import baton.interop.internal.parallel.Elements;
import baton.interop.internal.parallel.GateFuture;
import baton.interop.internal.parallel.MapFuture;
import baton.interop.internal.parallel.MapKind;
import baton.interop.internal.parallel.MapPublisher;
import baton.interop.internal.parallel.StreamKind;
import baton.parallel.MemoryGate;
import baton.parallel.Outcome;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Parallel maps with a bound: a function that returns a stage is called for each element, and at most {@code limit} of
 * its stages are incomplete at a time.
 *
 * <pre>{@code
 * CompletableFuture<List<String>> pages = Tasks.mapLimit(urls, 5, this::fetch);
 * Flow.Publisher<List<String>> chunks = Tasks.processInChunks(urls, 50, 10, this::fetch);
 * }</pre>
 *
 * <p><em>Laziness.</em> An element is pulled only when there is a place for it. The source may be endless; it is used by
 * one thread at a time, and each use sees the effects of the one before it.
 *
 * <p><em>Threads.</em> Source and function are called by the thread that calls the method (of a publisher: that first
 * requests), and then by the threads that complete the stages, one at a time. A source or a function that blocks holds
 * up the whole map. The elements of a publisher are mapped by the thread that signals them. The map starts neither
 * threads nor coroutines. Stages that are complete when they are returned need no stack: there may be any number of them.
 *
 * <p><em>Failures.</em> After the first failure nothing is pulled any more; the stages that are incomplete are awaited;
 * then the future fails with the first failure, in which the others are suppressed. A function that throws or returns
 * null, and a source that throws, are failures like any other. Causes come without CompletionException around them. An
 * error for want of memory or stack may end the map before the incomplete stages have ended.
 *
 * <p><em>Cancellation.</em> Cancelling the future, completing it from outside, or letting {@code orTimeout} expire
 * stops the pulling and cancels the stages that are incomplete. So does cancelling the subscription to a publisher.
 *
 * <p><em>Publishers.</em> A publisher that is returned starts nothing before a subscriber requests, and maps anew for each
 * subscriber. It keeps the rules of Reactive Streams: signals are serial, and come on demand. It pulls when it has room:
 * a result that waits for demand keeps its room, so a slow subscriber holds everything up. After a failure the results
 * before it are signalled on demand, then the failure. A cancelled subscription also cancels a source that is a
 * publisher; no signal follows.
 *
 * <p><em>Memory.</em> Actions of the function, and those before its stage completes, happen before the future is seen
 * completed, or the result is signalled.
 *
 * <p><em>Misuse.</em> A limit below 1 is an IllegalArgumentException at the call, before anything is pulled; so is
 * {@code maxFailures} or {@code size} below 1.
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
        Objects.requireNonNull(items, "items");
        Objects.requireNonNull(function, "function");
        Iterator<? extends T> elements = items.iterator();
        return MapFuture.start(kind, elements, function, items::close);
    }

    /**
     * The results of the function for all elements that the publisher signals, in their order. At most {@code limit}
     * elements are requested, in flight, or wait to be signalled. A stage that completes with null is a failure: a
     * publisher cannot signal null.
     */
    public static <T extends @Nullable Object, R> Flow.Publisher<R> mapLimit(
            Flow.Publisher<? extends T> items,
            int limit,
            Function<? super T, ? extends CompletionStage<? extends R>> function) {
        return new MapPublisher<>(StreamKind.mapLimit(limit), Elements.<T>of(items), function);
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

    /**
     * The results in lists of {@code size}, in the order of the elements; the last one holds the rest and may be shorter. While
     * the subscriber is busy with a chunk, the next ones are under way, and a place that a slow element of a chunk does
     * not need is used by the next chunk.
     *
     * <p>The thread that completes a stage first pulls the next element, and then signals the chunk that is complete; so
     * the work goes on while the subscriber is busy. A source that blocks delays chunks, and deadlocks if it waits for
     * the subscriber's work on them: such a source must be a publisher.
     *
     * <p>At most {@code size + limit} results are held, those of a chunk that the subscriber may be working on included:
     * of the last one that was signalled, until the signal has returned and another one is requested. After a failure a
     * chunk that is not complete is dropped.
     *
     * @param size the number of results in a chunk, at least 1
     */
    public static <T extends @Nullable Object, R extends @Nullable Object> Flow.Publisher<List<R>> processInChunks(
            Iterable<? extends T> items,
            int size,
            int limit,
            Function<? super T, ? extends CompletionStage<? extends R>> function) {
        return new MapPublisher<>(StreamKind.processInChunks(size, limit, null), Elements.<T>of(items), function);
    }

    /**
     * As {@link #processInChunks(Iterable, int, int, Function)}. While the gate is closed, no element is pulled as long as
     * another one is in flight: one at a time passes, so the call slows down and never stops.
     *
     * <pre>{@code
     * MemoryGate gate = MemoryGate.create(0.80, 0.70, 512L << 20);
     * Flow.Publisher<List<String>> chunks = Tasks.processInChunks(urls, 50, 10, gate, this::fetch);
     * }</pre>
     */
    public static <T extends @Nullable Object, R extends @Nullable Object> Flow.Publisher<List<R>> processInChunks(
            Iterable<? extends T> items,
            int size,
            int limit,
            MemoryGate gate,
            Function<? super T, ? extends CompletionStage<? extends R>> function) {
        StreamKind kind = StreamKind.processInChunks(size, limit, Objects.requireNonNull(gate, "gate"));
        return new MapPublisher<>(kind, Elements.<T>of(items), function);
    }

    /**
     * As {@link #processInChunks(Iterable, int, int, Function)}. The stream is closed at the end. It has one subscriber.
     */
    public static <T extends @Nullable Object, R extends @Nullable Object> Flow.Publisher<List<R>> processInChunks(
            Stream<? extends T> items,
            int size,
            int limit,
            Function<? super T, ? extends CompletionStage<? extends R>> function) {
        return new MapPublisher<>(StreamKind.processInChunks(size, limit, null), Elements.<T>of(items), function);
    }

    /**
     * As {@link #processInChunks(Iterable, int, int, MemoryGate, Function)}. The stream is closed at the end. It has one
     * subscriber.
     */
    public static <T extends @Nullable Object, R extends @Nullable Object> Flow.Publisher<List<R>> processInChunks(
            Stream<? extends T> items,
            int size,
            int limit,
            MemoryGate gate,
            Function<? super T, ? extends CompletionStage<? extends R>> function) {
        StreamKind kind = StreamKind.processInChunks(size, limit, Objects.requireNonNull(gate, "gate"));
        return new MapPublisher<>(kind, Elements.<T>of(items), function);
    }

    /** As {@link #processInChunks(Iterable, int, int, Function)}. */
    public static <T extends @Nullable Object, R extends @Nullable Object> Flow.Publisher<List<R>> processInChunks(
            Flow.Publisher<? extends T> items,
            int size,
            int limit,
            Function<? super T, ? extends CompletionStage<? extends R>> function) {
        return new MapPublisher<>(StreamKind.processInChunks(size, limit, null), Elements.<T>of(items), function);
    }

    /** As {@link #processInChunks(Iterable, int, int, MemoryGate, Function)}. */
    public static <T extends @Nullable Object, R extends @Nullable Object> Flow.Publisher<List<R>> processInChunks(
            Flow.Publisher<? extends T> items,
            int size,
            int limit,
            MemoryGate gate,
            Function<? super T, ? extends CompletionStage<? extends R>> function) {
        StreamKind kind = StreamKind.processInChunks(size, limit, Objects.requireNonNull(gate, "gate"));
        return new MapPublisher<>(kind, Elements.<T>of(items), function);
    }

    /** Done when the gate is open: it is looked at now, then as often as its {@code every} says. */
    public static CompletableFuture<@Nullable Void> awaitOpen(MemoryGate gate) {
        return GateFuture.start(Objects.requireNonNull(gate, "gate"));
    }

    /**
     * Maps for functions that block. They run on virtual threads; before JDK 21 on threads of {@code Dispatchers.IO}, of
     * which each call uses up to {@code limit}, also if it is a call from within a function of another one.
     */
    public static BlockingTasks blocking() {
        return new BlockingTasks(BlockingThreads.defaultExecutor());
    }

    /** Maps for functions that block, on threads of the executor. */
    public static BlockingTasks blocking(Executor executor) {
        return new BlockingTasks(Objects.requireNonNull(executor, "executor"));
    }

    private static <T extends @Nullable Object, V extends @Nullable Object> CompletableFuture<V> start(
            MapKind kind, Iterable<? extends T> items, Function<? super T, ? extends CompletionStage<?>> function) {
        Objects.requireNonNull(items, "items");
        Objects.requireNonNull(function, "function");
        return MapFuture.start(kind, items.iterator(), function, () -> {});
    }
}
