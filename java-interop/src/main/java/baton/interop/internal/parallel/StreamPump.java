package baton.interop.internal.parallel;

import baton.bridge.ElementMap;
import baton.bridge.GateBridge;
import baton.interop.internal.futures.Timeout;
import baton.parallel.MemoryGate;
import baton.waiting.threads.Timeouts;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import kotlinx.coroutines.DisposableHandle;
import org.jspecify.annotations.Nullable;

/**
 * The pump of a map whose results are published. An element has two places: one of {@code limit}, until it has ended,
 * and one of the room, until its result is released. While the gate is closed it also waits until no other is in flight.
 */
final class StreamPump<T extends @Nullable Object> extends ElementPump<T> {
    private final StreamKind kind;
    private final Elements source;
    private final Runnable onChange;
    private final AtomicLong ended = new AtomicLong();
    private final AtomicLong released = new AtomicLong();
    private volatile boolean demanded;
    private volatile boolean closed;

    // The puller's.
    private long pulled;
    private boolean closing;
    private @Nullable DisposableHandle nextLook; // at the gate
    private volatile boolean looks; // cleared by the timer

    /** @param onChange runs when there may be something to deliver */
    StreamPump(
            StreamKind kind,
            Elements.Source<T> source,
            Function<? super T, ? extends CompletionStage<?>> mapper,
            Runnable onChange) {
        super(ElementMap.ofChunks(kind.size()), mapper);
        this.kind = kind;
        this.onChange = onChange;
        this.source = source.apply(this);
    }

    void begin() {
        if (map.isOpen()) source.begin();
    }

    /** From the first demand on, elements are pulled. */
    void demand() {
        demanded = true;
        signal();
    }

    /** The subscriber is done with so many results. */
    void release(int results) {
        released.addAndGet(results);
        signal();
    }

    /** Whether no result and no failure will follow. */
    boolean isOver() {
        return closed && isMapOver();
    }

    @Override
    long places() {
        if (!demanded || !source.isReady()) return 0;
        long inFlight = pulled - ended.get();
        long places = Math.min(kind.limit() - inFlight, kind.room() - (pulled - released.get()));
        MemoryGate gate = kind.gate();
        if (places <= 0 || gate == null) return places;
        // Each element looks for itself.
        if (gate.isOpen() || inFlight == 0) return 1;
        lookLater(gate);
        return 0;
    }

    private void lookLater(MemoryGate gate) {
        if (looks) return;
        looks = true;
        nextLook = Timeouts.schedule(Timeout.millis(GateBridge.intervalOf(gate)), () -> {
            looks = false;
            signal();
        });
    }

    @Override
    void pull(long places) {
        pulled += source.pull(places);
    }

    @Override
    void pulledAll() {
        if (closing) return;
        closing = true;
        try {
            if (nextLook != null) nextLook.dispose();
            source.close();
        } catch (Throwable e) {
            map.abandon(e);
        } finally {
            closed = true;
        }
    }

    @Override
    @Nullable
    Throwable refusal(@Nullable Object value) {
        if (kind.chunked() || value != null) return null;
        return new NullPointerException("the stage has the value null, which a publisher cannot signal");
    }

    @Override
    void elementEnded() {
        ended.incrementAndGet();
    }

    @Override
    void signalled() {
        onChange.run();
    }

    @Override
    public String toString() {
        return kind + ", in flight = " + map.getInFlight();
    }
}
