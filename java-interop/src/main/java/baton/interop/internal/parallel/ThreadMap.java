package baton.interop.internal.parallel;

import baton.interop.BlockingFunction;
import baton.interop.internal.futures.CallerContext;
import baton.interop.internal.futures.Interruption;
import baton.interop.internal.futures.Stages;
import baton.interop.internal.futures.ThreadCall;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A parallel map for whose end the calling thread waits.
 *
 * <p>The calling thread may pull elements, and run the function if the executor does so in place. An interrupt that comes
 * then stops the map and stays set, so the wait that follows throws. Running calls are interrupted by that wait alone.
 */
public final class ThreadMap<T extends @Nullable Object> {
    private final Thread caller = Thread.currentThread();
    private final CountDownLatch over = new CountDownLatch(1);
    private final Executor executor;
    private final BlockingFunction<? super T, ?> function;
    private final Source source;
    private final ListPump<T> pump;

    /**
     * The calls that have not ended. The pump knows a call only when the executor has returned, which may run it in place
     * until then.
     */
    private final Set<ThreadCall<?>> calls = ConcurrentHashMap.newKeySet();

    // Written before the latch opens.
    private @Nullable Object results;
    private @Nullable Throwable failure;

    private ThreadMap(
            MapKind kind, Iterable<? extends T> items, BlockingFunction<? super T, ?> function, Executor executor) {
        this.executor = BlockingThreads.ofCall(executor, kind.limit());
        this.function = function;
        source = new Source(items.iterator());
        pump = new ListPump<>(kind, source, CallerContext.function(this::start), (results, failure) -> {
            this.results = results;
            this.failure = failure;
            over.countDown();
        });
    }

    private CompletionStage<?> start(T element) {
        ThreadCall<@Nullable Object> call = new ThreadCall<>(() -> apply(element), calls);
        calls.add(call);
        // An interrupt stops the pump before it cancels the calls: either it finds this one, or this finds the pump
        // stopped.
        if (pump.isStopped()) {
            call.cancel(true);
            return call;
        }
        try {
            executor.execute(CallerContext.runnable(call));
        } catch (Throwable e) {
            // The executor may have taken the call all the same. The element fails now only if the call never begins.
            if (call.prevent()) throw e;
            call.endIfRunHere(e);
        }
        return call;
    }

    private @Nullable Object apply(T element) throws Exception {
        try {
            return function.apply(element);
        } catch (InterruptedException e) {
            if (Thread.currentThread() == caller) {
                caller.interrupt();
                pump.stop();
            }
            throw e;
        }
    }

    /** The elements. A thread of the executor that waits in the source is interrupted like one that runs the function. */
    private final class Source implements Iterator<T> {
        private final Iterator<? extends T> items;
        private final Interruption interruption = new Interruption();

        Source(Iterator<? extends T> items) {
            this.items = items;
        }

        @Override
        public boolean hasNext() {
            if (Thread.currentThread() == caller && caller.isInterrupted()) pump.stop();
            if (pump.isStopped()) return false;
            interruption.begin();
            try {
                return items.hasNext();
            } finally {
                boolean unused = interruption.end();
            }
        }

        @Override
        public T next() {
            interruption.begin();
            try {
                return items.next();
            } finally {
                boolean unused = interruption.end();
            }
        }
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

    /** As {@link #call} for a kind that settles, so that only exceptions of the source are thrown. */
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
            source.interruption.interrupt();
            for (ThreadCall<?> call : calls) call.cancel(true);
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

    /** Failures that are due to the interrupt itself are left out. */
    private static void attach(InterruptedException thrown, Throwable failure) {
        boolean isDue = failure instanceof InterruptedException || failure instanceof CancellationException;
        if (!isDue) thrown.addSuppressed(failure);
    }
}
