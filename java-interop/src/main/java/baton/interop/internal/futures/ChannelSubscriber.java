package baton.interop.internal.futures;

import baton.interop.AsyncChannel;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Sends the elements of a publisher to a channel, and requests the next one once the last one has a place. */
public final class ChannelSubscriber<T extends @Nullable Object> implements Flow.Subscriber<T> {
    private final AsyncChannel<T> channel;
    private final AtomicReference<Flow.@Nullable Subscription> subscription = new AtomicReference<>();
    private volatile CompletableFuture<?> last = CompletableFuture.completedFuture(null);

    public ChannelSubscriber(AsyncChannel<T> channel) {
        this.channel = channel;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        Objects.requireNonNull(subscription, "subscription");
        if (this.subscription.compareAndSet(null, subscription) && !channel.isClosed()) subscription.request(1);
        else subscription.cancel();
    }

    @Override
    public void onNext(T element) {
        Objects.requireNonNull(element, "element");
        Flow.Subscription from = subscription.get();
        if (from == null) throw new IllegalStateException("onNext before onSubscribe");
        CompletableFuture<@Nullable Void> sent = channel.send(element);
        last = sent;
        var unused = sent.whenComplete((value, closed) -> {
            if (closed == null) from.request(1);
            else from.cancel();
        });
    }

    /** Closes the channel after the last element has its place; a close before that would refuse the element. */
    @Override
    public void onError(Throwable why) {
        Objects.requireNonNull(why, "why");
        var unused = last.whenComplete((value, closed) -> channel.close(why));
    }

    @Override
    public void onComplete() {
        var unused = last.whenComplete((value, closed) -> channel.close());
    }

    @Override
    public String toString() {
        return "Subscriber of " + channel;
    }
}
