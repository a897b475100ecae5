package baton.interop.internal.futures;

import baton.waiting.threads.Trampoline;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A subscription that signals what it has on demand, in order.
 *
 * <p>Each event (a request, something to signal, a cancellation) goes to a {@link SerialDrain}. So signals are serial, and
 * a request from within a signal does not deepen the stack.
 *
 * @param <S> the type of the signalled elements
 */
public abstract class SerialSubscription<S extends @Nullable Object> implements Flow.Subscription {
    private final @Nullable Executor executor;
    private final int batch;
    private final Runnable delivery = this::deliver;
    private final AtomicLong demand = new AtomicLong();

    /** It works at first: nothing is signalled before onSubscribe has returned. */
    private final SerialDrain drain = new SerialDrain(true);

    /** Null once the subscription has ended. Written by the delivering thread alone. */
    private volatile Flow.@Nullable Subscriber<? super S> subscriber;

    private volatile @Nullable IllegalArgumentException invalidRequest;
    private volatile boolean cancelled;

    /**
     * @param executor runs the signals; null for the threads of the events
     * @param batch after so many signals the executor, or a callback thread, goes on
     */
    protected SerialSubscription(Flow.Subscriber<? super S> subscriber, @Nullable Executor executor, int batch) {
        this.subscriber = subscriber;
        this.executor = executor;
        this.batch = batch;
    }

    /** Signals what is next. False if there is nothing to signal, for now or for good. */
    protected abstract boolean signalNext(Flow.Subscriber<? super S> to);

    /** The elements are not wanted any more. May be called more than once, and on any thread. */
    protected abstract void stop();

    /** Where the elements come from, for the description. */
    protected abstract Object source();

    /** More elements are wanted. */
    protected void requested() {}

    /** Called after onSubscribe, before the first signal. */
    protected void subscribed() {}

    protected final void begin() {
        Flow.Subscriber<? super S> to = subscriber;
        if (to != null) callSubscriber(() -> to.onSubscribe(this));
        subscribed();
        CallbackExecutor.run(executor, delivery);
    }

    protected final boolean isCancelled() {
        return cancelled;
    }

    protected final boolean isDemanded() {
        return demand.get() > 0;
    }

    @Override
    public final void request(long n) {
        if (n <= 0) {
            invalidRequest = new IllegalArgumentException(
                    "request of n = " + n + ", must be at least 1 (Reactive Streams, rule 3.9)");
        } else {
            demand.getAndUpdate(old -> Long.MAX_VALUE - old < n ? Long.MAX_VALUE : old + n);
            requested();
        }
        signalEvent();
    }

    @Override
    public final void cancel() {
        if (subscriber == null) return;
        cancelled = true;
        stop();
        signalEvent();
    }

    protected final void signalEvent() {
        if (drain.signal()) CallbackExecutor.run(executor, delivery);
    }

    private void deliver() {
        int signals = 0;
        do {
            drain.begin();
            while (signalOrFail()) {
                if (++signals >= batch) {
                    CallbackExecutor.run(executor == null ? CallbackExecutor.ELSEWHERE : executor, delivery);
                    return;
                }
            }
        } while (!drain.end());
    }

    /** A failure, for want of memory or stack say, is the end of the subscription. */
    private boolean signalOrFail() {
        Flow.Subscriber<? super S> to = subscriber;
        if (to == null) return false;
        try {
            IllegalArgumentException refused = invalidRequest;
            if (!cancelled && refused == null) return signalNext(to);
            end();
            if (refused != null && !cancelled) callSubscriber(() -> to.onError(refused));
        } catch (Throwable e) {
            end();
            if (cancelled) throw e; // the subscriber's own
            callSubscriber(() -> to.onError(e));
        }
        return false;
    }

    /** From now on nothing is signalled. */
    private void end() {
        subscriber = null;
        stop();
    }

    protected final void signalElement(Flow.Subscriber<? super S> to, S element) {
        demand.getAndUpdate(old -> old == Long.MAX_VALUE ? old : old - 1);
        callSubscriber(() -> to.onNext(element));
    }

    /** Signals the end, the last signal. */
    protected final void signalEnd(Flow.Subscriber<? super S> to, @Nullable Throwable failure) {
        subscriber = null;
        callSubscriber(() -> {
            if (failure == null) to.onComplete();
            else to.onError(failure);
        });
    }

    private void callSubscriber(Runnable signal) {
        try {
            signal.run();
        } catch (Throwable e) {
            cancel();
            Trampoline.report(e);
            subscriberFailed(e);
        }
    }

    /** The subscriber has thrown, and its subscription is cancelled. */
    protected void subscriberFailed(Throwable thrown) {}

    @Override
    public final String toString() {
        return "Subscription (requested = " + demand + (cancelled ? ", cancelled" : "") + ") to " + source();
    }
}
