package baton.interop.internal.parallel;

import baton.bridge.ElementMap;
import baton.interop.internal.futures.Stages;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Pulls elements and gives them to the mapper as long as there are places.
 *
 * <pre>
 *          signal()                    signal()
 *   IDLE ───────────▶ AGAIN ◀──────────────────── PULLING
 *    ▲                  └── its thread pulls ───────▲ │
 *    └──────────── no place, or no element ───────────┘
 * </pre>
 *
 * One thread pulls at a time: the one that found IDLE. It pulls until there is neither a place nor a new signal, so a
 * stage that completes meanwhile only leaves its signal. Thus any number of completed stages needs one frame. Source and
 * mapper are called by that thread alone, without a lock; each call sees what the one before it did.
 *
 * <p>Whatever is thrown while it pulls, for want of memory or stack too, stops the map: it never leaves the state as it
 * was found, in which nothing would be pulled any more.
 */
abstract class ElementPump<T extends @Nullable Object> {
    private static final int IDLE = 0;
    private static final int PULLING = 1;
    private static final int AGAIN = 2;

    final ElementMap map;

    private final AtomicInteger state = new AtomicInteger(IDLE);
    private final Function<? super T, ? extends CompletionStage<?>> mapper;
    private final Set<Element> running = ConcurrentHashMap.newKeySet();
    private volatile boolean stopped; // from outside

    /** Written by the puller. A thread finds itself here only if it pulls, however late it sees what others write. */
    private @Nullable Thread puller;

    ElementPump(ElementMap map, Function<? super T, ? extends CompletionStage<?>> mapper) {
        this.map = map;
        this.mapper = mapper;
    }

    /** How many elements may be pulled. Called by the puller. */
    abstract long places();

    /** Pulls one element or more, at most as many as there are places. Called by the puller while the map is open. */
    abstract void pull(long places);

    /** Nothing will be pulled any more. Called by the puller, perhaps more than once. */
    abstract void pulledAll();

    /** Why the value cannot be a result; null if it can. */
    @Nullable
    Throwable refusal(@Nullable Object value) {
        return null;
    }

    /** Called when an element has ended, before the signal for it. */
    void elementEnded() {}

    /** Called after each signal, but not while this thread pulls: then it is called when it has done so. */
    void signalled() {}

    /** A place may have become free, or the map may be over. */
    final void signal() {
        if (state.getAndSet(AGAIN) != IDLE) {
            if (puller != Thread.currentThread()) signalled();
            return;
        }
        do {
            state.set(PULLING);
            puller = Thread.currentThread();
            try {
                pullAll();
            } catch (Throwable e) {
                map.abandon(e);
                state.set(AGAIN);
            }
            puller = null;
        } while (!state.compareAndSet(PULLING, IDLE));
        signalled();
    }

    private void pullAll() {
        while (map.isOpen()) {
            long places = places();
            if (places <= 0) return;
            pull(places);
        }
        pulledAll();
    }

    /** Starts the element that was pulled last; false if it must not be started. Called by the puller. */
    final boolean start(T element) {
        Element started = new Element();
        started.index = map.start();
        if (started.index < 0) return false;
        started.run(element);
        return true;
    }

    final boolean isStopped() {
        return stopped;
    }

    /** Nothing will be pulled any more. */
    final void stop(String call) {
        stopped = true;
        map.abandon(new CancellationException(call + " was cancelled"));
        signal();
    }

    final void cancelRunning() {
        running.forEach(Element::cancel);
    }

    /** An element in flight. It is true once it has ended, so a stage that says so twice counts once. */
    private final class Element extends AtomicBoolean implements BiConsumer<@Nullable Object, @Nullable Throwable> {
        private static final long serialVersionUID = 1;

        private transient int index;
        private transient volatile @Nullable CompletionStage<?> stage;

        void run(T element) {
            try {
                CompletionStage<?> mapped =
                        Objects.requireNonNull(mapper.apply(element), "the function returned null instead of a stage");
                stage = mapped;
                running.add(this);
                var unused = mapped.whenComplete(this);
            } catch (Throwable e) {
                accept(null, e);
                return;
            }
            // Not before the map is closed: else the place of the stage that is cancelled would be taken by another
            // element.
            if (stopped && map.isStopped()) cancel();
        }

        void cancel() {
            CompletionStage<?> current = stage;
            if (current != null && !get()) Stages.cancel(current);
        }

        @Override
        public void accept(@Nullable Object value, @Nullable Throwable failure) {
            if (getAndSet(true)) return;
            Throwable cause = failure == null ? refusal(value) : Stages.unwrap(failure);
            if (cause == null) map.succeed(index, value);
            else if (cause instanceof CancellationException) map.cancel(index, cause);
            else map.fail(index, cause);
            running.remove(this);
            elementEnded();
            signal();
        }
    }
}
