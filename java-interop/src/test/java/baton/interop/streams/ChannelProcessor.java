package baton.interop.streams;

import baton.interop.AsyncChannel;
import java.util.Objects;
import java.util.concurrent.Flow;

/** A channel's subscriber and publisher combined: the publisher signals the elements that the subscriber receives. */
final class ChannelProcessor implements Flow.Processor<Integer, Integer> {
    private final AsyncChannel<Integer> channel;
    private final Flow.Subscriber<Integer> in;
    private volatile Flow.Subscription upstream;

    ChannelProcessor(AsyncChannel<Integer> channel) {
        this.channel = channel;
        this.in = channel.subscriber();
    }

    @Override
    public void subscribe(Flow.Subscriber<? super Integer> downstream) {
        Objects.requireNonNull(downstream, "downstream");
        channel.publisher().subscribe(new Flow.Subscriber<>() {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                downstream.onSubscribe(new Flow.Subscription() {
                    @Override
                    public void request(long n) {
                        subscription.request(n);
                    }

                    /**
                     * Cancels the channel too, because no element may follow. The subscription alone does not: a
                     * channel may have other receivers.
                     */
                    @Override
                    public void cancel() {
                        subscription.cancel();
                        channel.cancel();
                        if (upstream != null) upstream.cancel();
                    }
                });
            }

            @Override
            public void onNext(Integer element) {
                downstream.onNext(element);
            }

            @Override
            public void onError(Throwable why) {
                downstream.onError(why);
            }

            @Override
            public void onComplete() {
                downstream.onComplete();
            }
        });
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        if (upstream == null) upstream = subscription;
        in.onSubscribe(subscription);
    }

    @Override
    public void onNext(Integer element) {
        in.onNext(element);
    }

    @Override
    public void onError(Throwable why) {
        in.onError(why);
    }

    @Override
    public void onComplete() {
        in.onComplete();
    }
}
