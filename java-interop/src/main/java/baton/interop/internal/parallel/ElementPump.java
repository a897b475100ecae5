package baton.interop.internal.parallel;

import baton.bridge.ElementMap;
import baton.interop.internal.futures.CallerContext;
import baton.interop.internal.futures.Stages;
import java.util.Iterator;
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
 */
final class ElementPump<T extends @Nullable Object> {
    private static final int IDLE = 0;
    private static final int PULLING = 1;
    private static final int AGAIN = 2;

    private final AtomicInteger state = new AtomicInteger(IDLE);
    private final MapKind kind;
    private final Iterator<? extends T> source;
    private final Function<? super T, ? extends CompletionStage<?>> mapper;
    private final ElementMap map;
    private final BiConsumer<@Nullable Object, @Nullable Throwable> onOver;
    private final Set<Element> running = ConcurrentHashMap.newKeySet();
    private volatile boolean stopped;

    // The puller's.
    private boolean heldBack; // an element was pulled and not started
    private boolean ended;

    ElementPump(
            MapKind kind,
            Iterator<? extends T> source,
            Function<? super T, ? extends CompletionStage<?>> mapper,
            BiConsumer<@Nullable Object, @Nullable Throwable> onOver) {
        this.kind = kind;
        this.source = source;
        this.mapper = CallerContext.function(mapper);
        map = new ElementMap(kind.listed(), kind.settling(), kind.maxFailures());
        this.onOver = onOver;
    }

    /** A place may have become free, or the map may be over. */
    void signal() {
        if (state.getAndSet(AGAIN) != IDLE) return;
        do {
            state.set(PULLING);
            while (map.isOpen() && map.getInFlight() < kind.limit()) pull();
            if (map.isOver() && !ended) {
                ended = true;
                end();
            }
        } while (!state.compareAndSet(PULLING, IDLE));
    }

    private void pull() {
        T element;
        try {
            if (!source.hasNext()) {
                map.exhaust();
                return;
            }
            element = source.next();
        } catch (Throwable e) {
            map.abandon(e);
            return;
        }
        int index = map.start();
        if (index < 0) heldBack = true;
        else new Element(index).run(element);
    }

    /** Runs in the puller, so nobody else uses the source. */
    private void end() {
        Throwable failure = map.failure();
        @Nullable Object results = null;
        if (failure == null) {
            try {
                results = map.results(kind.countsRest() ? rest() : 0);
            } catch (Throwable e) { // the source's
                failure = e;
            }
        }
        onOver.accept(results, failure);
    }

    private int rest() {
        int count = heldBack ? 1 : 0;
        for (; !stopped && !map.isExhausted() && source.hasNext(); count++) source.next();
        return count;
    }

    boolean isStopped() {
        return stopped;
    }

    /** Nothing will be pulled any more. */
    void stop() {
        stopped = true;
        map.abandon(new CancellationException(kind.name() + " was cancelled"));
        signal();
    }

    void cancelRunning() {
        running.forEach(Element::cancel);
    }

    @Override
    public String toString() {
        return kind.name() + " (limit = " + kind.limit() + ", in flight = " + map.getInFlight() + ")";
    }

    /** An element in flight. It is true once it has ended, so a stage that says so twice counts once. */
    private final class Element extends AtomicBoolean implements BiConsumer<@Nullable Object, @Nullable Throwable> {
        private static final long serialVersionUID = 1;

        private final transient int index;
        private transient volatile @Nullable CompletionStage<?> stage;

        Element(int index) {
            this.index = index;
        }

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
            if (stopped) cancel();
        }

        void cancel() {
            CompletionStage<?> current = stage;
            if (current != null && !get()) Stages.cancel(current);
        }

        @Override
        public void accept(@Nullable Object value, @Nullable Throwable failure) {
            if (getAndSet(true)) return;
            running.remove(this);
            if (failure == null) map.succeed(index, value);
            else {
                Throwable cause = Stages.unwrap(failure);
                if (cause instanceof CancellationException) map.cancel(index, cause);
                else map.fail(index, cause);
            }
            signal();
        }
    }
}
