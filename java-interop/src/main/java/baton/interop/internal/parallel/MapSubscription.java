package baton.interop.internal.parallel;

import baton.interop.internal.futures.SerialSubscription;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Signals the results of a {@link StreamPump} on demand, in their order. While one thread signals another one may pull: a
 * subscriber that blocks holds up neither the source nor the mapper.
 *
 * <p>A chunk that was signalled keeps its room until the signal has returned and another one is requested, because the
 * subscriber may be working on it until then.
 *
 * @param <T> the type of the elements
 * @param <S> the type of the signalled elements: a result or a list of them
 */
final class MapSubscription<T extends @Nullable Object, S> extends SerialSubscription<S> {
    private final StreamKind kind;
    private final StreamPump<T> pump;

    /** How many results the subscriber may be working on. Used by the delivering thread alone. */
    private int unreleased;

    private MapSubscription(
            StreamKind kind,
            Elements.Source<T> source,
            Function<? super T, ? extends CompletionStage<?>> mapper,
            Flow.Subscriber<? super S> subscriber) {
        super(subscriber, null, Integer.MAX_VALUE);
        this.kind = kind;
        this.pump = new StreamPump<>(kind, source, mapper, this::signalEvent);
    }

    static <T extends @Nullable Object, S> void subscribe(
            StreamKind kind,
            Elements.Source<T> source,
            Function<? super T, ? extends CompletionStage<?>> mapper,
            Flow.Subscriber<? super S> subscriber) {
        new MapSubscription<>(kind, source, mapper, subscriber).begin();
    }

    @Override
    protected void subscribed() {
        pump.begin();
    }

    @Override
    protected void requested() {
        pump.demand();
    }

    /** Cancels the running stages, and the source. */
    @Override
    protected void stop() {
        pump.stop(kind.name());
        pump.cancelRunning();
    }

    @Override
    protected boolean signalNext(Flow.Subscriber<? super S> to) {
        boolean isDemanded = isDemanded();
        if (isDemanded) release();
        boolean isOver = pump.isOver();
        // After a failure a chunk that is not complete is dropped.
        boolean takesRest = isOver && !pump.map.isStopped();
        List<?> chunk = isDemanded ? pump.map.pollChunk(takesRest) : null;
        if (chunk != null) {
            signal(to, chunk);
            return true;
        }
        if (isOver && !pump.map.hasChunk(takesRest)) signalEnd(to, pump.map.failure());
        return false;
    }

    private void signal(Flow.Subscriber<? super S> to, List<?> chunk) {
        unreleased = chunk.size();
        if (!kind.chunked()) release();
        @SuppressWarnings("unchecked") // the kind says of what type it is
        S signalled = (S) (kind.chunked() ? chunk : chunk.get(0));
        signalElement(to, signalled);
    }

    private void release() {
        int results = unreleased;
        unreleased = 0;
        if (results > 0) pump.release(results);
    }

    /** An error for want of memory or stack is thrown, too: it may have come before the call of the subscriber. */
    @Override
    protected void subscriberFailed(Throwable thrown) {
        if (thrown instanceof VirtualMachineError error) throw error;
    }

    @Override
    protected Object source() {
        return pump;
    }
}
