package baton.interop.internal.parallel;

import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Requests as many elements as there are places, and starts each one as it arrives. So nothing is buffered, and the
 * publisher, whose signals are serial, is the one that starts.
 */
final class PublishedElements<T extends @Nullable Object> extends Elements implements Flow.Subscriber<T> {
    private final StreamPump<T> pump;
    private final Flow.Publisher<? extends T> publisher;

    /** Null before onSubscribe, {@link #NONE} once nothing will be requested any more. */
    private final AtomicReference<Flow.@Nullable Subscription> subscription = new AtomicReference<>();

    private static final Flow.Subscription NONE = new Flow.Subscription() {
        @Override
        public void request(long n) {}

        @Override
        public void cancel() {}
    };

    PublishedElements(StreamPump<T> pump, Flow.Publisher<? extends T> publisher) {
        this.pump = pump;
        this.publisher = publisher;
    }

    @Override
    void begin() {
        if (subscription.get() != null) return;
        try {
            publisher.subscribe(this);
        } catch (Throwable e) {
            end(e);
        }
    }

    @Override
    boolean isReady() {
        return subscription.get() != null;
    }

    @Override
    long pull(long places) {
        Objects.requireNonNull(subscription.get()).request(places);
        return places;
    }

    @Override
    void close() {
        Flow.Subscription from = subscription.getAndSet(NONE);
        if (from != null) from.cancel();
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        Objects.requireNonNull(subscription, "subscription");
        if (this.subscription.compareAndSet(null, subscription)) pump.signal();
        else subscription.cancel();
    }

    @Override
    public void onNext(T element) {
        Objects.requireNonNull(element, "element");
        try {
            boolean unused = pump.start(element);
        } catch (Throwable e) {
            pump.map.abandon(e);
            pump.signal();
        }
    }

    @Override
    public void onError(Throwable why) {
        end(Objects.requireNonNull(why, "why"));
    }

    private void end(Throwable why) {
        subscription.set(NONE);
        pump.map.abandon(why);
        pump.signal();
    }

    @Override
    public void onComplete() {
        subscription.set(NONE);
        pump.map.exhaust();
        pump.signal();
    }

    @Override
    public String toString() {
        return "Subscriber of " + pump;
    }
}
