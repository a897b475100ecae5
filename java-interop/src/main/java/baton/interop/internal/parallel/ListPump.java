package baton.interop.internal.parallel;

import baton.bridge.ElementMap;
import java.util.Iterator;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The pump of a map whose results come all at once, at its end. */
final class ListPump<T extends @Nullable Object> extends ElementPump<T> {
    private final MapKind kind;
    private final Iterator<? extends T> source;
    private final BiConsumer<@Nullable Object, @Nullable Throwable> onOver;

    // The puller's.
    private boolean heldBack; // an element was pulled and not started
    private boolean ended;

    /**
     * @param onOver receives the results, null if the kind keeps none, or the failure; it may be called again if it has
     *     thrown
     */
    ListPump(
            MapKind kind,
            Iterator<? extends T> source,
            Function<? super T, ? extends CompletionStage<?>> mapper,
            BiConsumer<@Nullable Object, @Nullable Throwable> onOver) {
        super(ElementMap.ofList(kind.listed(), kind.settling(), kind.maxFailures()), mapper);
        this.kind = kind;
        this.source = source;
        this.onOver = onOver;
    }

    @Override
    long places() {
        return (long) kind.limit() - map.getInFlight();
    }

    @Override
    void pull(long places) {
        if (!source.hasNext()) map.exhaust();
        else if (!start(source.next())) heldBack = true;
    }

    @Override
    void pulledAll() {
        if (ended || !isMapOver()) return;
        @Nullable Object results = null;
        @Nullable Throwable failure;
        try {
            failure = map.failure();
            if (failure == null) results = map.results(kind.countsRest() ? rest() : 0);
        } catch (Throwable e) { // the source's, or there is no memory
            failure = e;
        }
        onOver.accept(results, failure);
        ended = true; // if that has thrown, the next signal tries again
    }

    private int rest() {
        int count = heldBack ? 1 : 0;
        for (; !isStopped() && !map.isExhausted() && source.hasNext(); count++) source.next();
        return count;
    }

    void stop() {
        stop(kind.name());
    }

    @Override
    public String toString() {
        return kind.name() + " (limit = " + kind.limit() + ", in flight = " + map.getInFlight() + ")";
    }
}
