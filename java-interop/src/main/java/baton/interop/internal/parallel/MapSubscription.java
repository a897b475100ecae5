package baton.interop.internal.parallel;

import baton.interop.internal.futures.CallbackExecutor;
import baton.waiting.threads.Trampoline;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Signals the results of a {@link StreamPump} on demand, in their order.
 *
 * <p>Each event (a request, an element that has ended, a cancellation) increments {@link #events}. The thread that
 * increments it from 0 delivers until there is no further event; all other threads leave the delivery to that one. So
 * signals are serial, and a request from within a signal does not deepen the stack. Meanwhile another thread may pull: a
 * subscriber that blocks holds up neither the source nor the mapper.
 *
 * <p>A chunk that was signalled keeps its room until the signal has returned and another one is requested, because the
 * subscriber may be working on it until then.
 *
 * @param <T> the type of the elements
 * @param <S> the type of the signalled elements: a result or a list of them
 */
final class MapSubscription<T extends @Nullable Object, S> implements Flow.Subscription {
    private final StreamKind kind;
    private final StreamPump<T> pump;
    private final Runnable delivery = this::deliver;
    private final AtomicLong demand = new AtomicLong();

    /** Starts at 1: nothing is signalled before onSubscribe has returned. */
    private final AtomicInteger events = new AtomicInteger(1);

    /** Null once the subscription has ended. Written by the delivering thread alone. */
    private volatile Flow.@Nullable Subscriber<? super S> subscriber;

    /** How many results the subscriber may be working on. Used by the delivering thread alone. */
    private int unreleased;

    private volatile @Nullable IllegalArgumentException invalidRequest;
    private volatile boolean cancelled;

    private MapSubscription(
            StreamKind kind,
            Elements.Source<T> source,
            Function<? super T, ? extends CompletionStage<?>> mapper,
            Flow.Subscriber<? super S> subscriber) {
        this.kind = kind;
        this.subscriber = subscriber;
        this.pump = new StreamPump<>(kind, source, mapper, this::signalEvent);
    }

    static <T extends @Nullable Object, S> void subscribe(
            StreamKind kind,
            Elements.Source<T> source,
            Function<? super T, ? extends CompletionStage<?>> mapper,
            Flow.Subscriber<? super S> subscriber) {
        MapSubscription<T, S> subscription = new MapSubscription<>(kind, source, mapper, subscriber);
        try {
            subscriber.onSubscribe(subscription);
        } catch (Throwable e) {
            subscription.cancelFor(e);
        }
        subscription.pump.begin();
        CallbackExecutor.run(null, subscription.delivery);
    }

    @Override
    public void request(long n) {
        if (n <= 0) {
            invalidRequest = new IllegalArgumentException(
                    "request of n = " + n + ", must be at least 1 (Reactive Streams, rule 3.9)");
        } else {
            demand.getAndUpdate(old -> Long.MAX_VALUE - old < n ? Long.MAX_VALUE : old + n);
            pump.demand();
        }
        signalEvent();
    }

    @Override
    public void cancel() {
        if (subscriber == null) return;
        cancelled = true;
        stop();
        signalEvent();
    }

    /** Cancels the running stages, and the source. */
    private void stop() {
        pump.stop(kind.name());
        pump.cancelRunning();
    }

    private void signalEvent() {
        if (events.getAndIncrement() == 0) CallbackExecutor.run(null, delivery);
    }

    private void deliver() {
        int seen = 1;
        do {
            try {
                boolean hasMore = true;
                while (hasMore) hasMore = signalNext();
            } catch (Throwable e) { // for want of memory or stack
                Flow.Subscriber<? super S> to = subscriber;
                subscriber = null;
                stop();
                if (to == null || cancelled) throw e; // the subscriber's own
                callSubscriber(() -> to.onError(e));
            }
            seen = events.addAndGet(-seen);
        } while (seen != 0);
    }

    /** False if there is nothing to signal, for now or for good. */
    private boolean signalNext() {
        Flow.Subscriber<? super S> to = subscriber;
        if (to == null) return false;
        if (cancelled) {
            subscriber = null;
            return false;
        }
        IllegalArgumentException refused = invalidRequest;
        if (refused != null) {
            subscriber = null;
            stop();
            callSubscriber(() -> to.onError(refused));
            return false;
        }
        boolean isDemanded = demand.get() > 0;
        if (isDemanded) release();
        boolean isOver = pump.isOver();
        // After a failure a chunk that is not complete is dropped.
        boolean takesRest = isOver && !pump.map.isStopped();
        if (isDemanded) {
            List<?> chunk = pump.map.pollChunk(takesRest);
            if (chunk != null) {
                signal(to, chunk);
                return true;
            }
        }
        if (isOver && !pump.map.hasChunk(takesRest)) signalEnd(to);
        return false;
    }

    private void signal(Flow.Subscriber<? super S> to, List<?> chunk) {
        demand.getAndUpdate(old -> old == Long.MAX_VALUE ? old : old - 1);
        unreleased = chunk.size();
        if (!kind.chunked()) release();
        @SuppressWarnings("unchecked") // the kind says of what type it is
        S signalled = (S) (kind.chunked() ? chunk : chunk.get(0));
        callSubscriber(() -> to.onNext(signalled));
    }

    private void release() {
        int results = unreleased;
        unreleased = 0;
        if (results > 0) pump.release(results);
    }

    private void signalEnd(Flow.Subscriber<? super S> to) {
        subscriber = null;
        Throwable why = pump.map.failure();
        callSubscriber(() -> {
            if (why == null) to.onComplete();
            else to.onError(why);
        });
    }

    /** Calls the subscriber. If it throws, its subscription is cancelled. */
    private void callSubscriber(Runnable signal) {
        try {
            signal.run();
        } catch (Throwable e) {
            cancelFor(e);
        }
    }

    /** An error for want of memory or stack is thrown, too: it may have come before the call of the subscriber. */
    private void cancelFor(Throwable thrown) {
        cancel();
        Trampoline.report(thrown);
        if (thrown instanceof VirtualMachineError error) throw error;
    }

    @Override
    public String toString() {
        return "Subscription (requested = " + demand + (cancelled ? ", cancelled" : "") + ") to " + pump;
    }
}
