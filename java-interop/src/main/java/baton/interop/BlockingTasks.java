package baton.interop;

import baton.interop.internal.parallel.MapKind;
import baton.interop.internal.parallel.ThreadMap;
import baton.parallel.Outcome;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Parallel maps for functions that block: virtual threads above all. Made by {@link Tasks#blocking()}.
 *
 * <pre>{@code
 * List<String> pages = Tasks.blocking().mapLimit(urls, 5, this::load);
 * }</pre>
 *
 * <p>The function runs on threads of the executor, at most {@code limit} at a time, and may throw checked exceptions.
 * The calling thread waits; a virtual thread leaves its carrier then. An executor with fewer threads than the limit
 * runs fewer at a time; a call from the only thread of its executor never ends. An executor may run the function in
 * place.
 *
 * <p><em>Laziness.</em> As in {@link Tasks}: an element is pulled only when there is a place for it, by the calling
 * thread, and then by the threads that have become free, one at a time.
 *
 * <p><em>Failures.</em> After the first failure nothing is pulled any more, and the running calls are awaited; then
 * that failure is thrown, itself and not a copy, with the others as suppressed. The rejection of an element by the
 * executor is a failure, too.
 *
 * <p><em>Interrupts.</em> An interrupt of the caller stops the pulling, and interrupts the running calls of the
 * function and a thread of the executor that waits in the source. Elements that wait for a thread do not begin. When
 * all has ended, the call throws {@link InterruptedException} with failures as suppressed. The threads of the executor
 * are not left interrupted. Another interrupt of such a thread meanwhile looks the same, and is cleared with it.
 * Where the calling thread itself runs the function, an {@code InterruptedException} of the function is an interrupt of
 * the caller. As in {@code java.util.concurrent}, a thread that is interrupted when it calls pulls nothing.
 *
 * <p><em>Memory.</em> Actions before the call happen before those of the function, and these before the call returns.
 *
 * <p><em>Misuse.</em> As in {@link Tasks}.
 *
 * <p>All methods may be called from any thread.
 */
public final class BlockingTasks {
    private final Executor executor;

    BlockingTasks(Executor executor) {
        this.executor = executor;
    }

    /** The results of the function for all elements, in the order of the elements. */
    public <T extends @Nullable Object, R extends @Nullable Object> List<R> mapLimit(
            Iterable<? extends T> items, int limit, BlockingFunction<? super T, ? extends R> function)
            throws Exception {
        Objects.requireNonNull(function, "function");
        return ThreadMap.call(MapKind.mapLimit(limit), items, function, executor);
    }

    /**
     * One outcome for each element, in the order of the elements. The call throws the exceptions of the source, and
     * {@link InterruptedException}; failures of the function are outcomes.
     */
    public <T extends @Nullable Object, R extends @Nullable Object> List<Outcome<R>> mapSettled(
            Iterable<? extends T> items, int limit, BlockingFunction<? super T, ? extends R> function)
            throws InterruptedException {
        return mapSettled(items, limit, Integer.MAX_VALUE, function);
    }

    /**
     * As {@link #mapSettled(Iterable, int, BlockingFunction)}, but nothing is started after so many failures: the other
     * elements are {@link Outcome.NotStarted}.
     *
     * @param maxFailures the number of failures, at least 1
     */
    public <T extends @Nullable Object, R extends @Nullable Object> List<Outcome<R>> mapSettled(
            Iterable<? extends T> items, int limit, int maxFailures, BlockingFunction<? super T, ? extends R> function)
            throws InterruptedException {
        Objects.requireNonNull(function, "function");
        return ThreadMap.settle(MapKind.mapSettled(limit, maxFailures, true), items, function, executor);
    }

    /** Runs the action for all elements. */
    public <T extends @Nullable Object> void forEachLimit(
            Iterable<? extends T> items, int limit, BlockingAction<? super T> action) throws Exception {
        Objects.requireNonNull(action, "action");
        BlockingFunction<T, Boolean> function = element -> {
            action.accept(element);
            return true;
        };
        List<?> unused = ThreadMap.call(MapKind.forEachLimit(limit), items, function, executor);
    }

    @Override
    public String toString() {
        return "BlockingTasks on " + executor;
    }
}
