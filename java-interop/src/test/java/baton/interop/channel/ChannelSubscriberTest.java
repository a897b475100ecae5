package baton.interop.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.interop.AsyncChannel;
import baton.interop.Futures;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The subscriber of a channel by the rules of Reactive Streams, whose numbers end the names of the tests. */
class ChannelSubscriberTest {
    private final AsyncChannel<Integer> channel = AsyncChannel.create(100);

    /** Records the requested number of elements, and the cancellation. */
    private static final class Source implements Flow.Subscription {
        long requested;
        boolean cancelled;

        @Override
        public void request(long n) {
            requested += n;
        }

        @Override
        public void cancel() {
            cancelled = true;
        }
    }

    @Test
    void subscriber_requestsAsPlacesComeFree() {
        AsyncChannel<Integer> narrow = AsyncChannel.create(1);
        Flow.Subscriber<Integer> subscriber = narrow.subscriber();
        Source source = new Source();
        subscriber.onSubscribe(source);
        assertEquals(1, source.requested);
        subscriber.onNext(1);
        assertEquals(2, source.requested);
        subscriber.onNext(2);
        assertEquals(2, source.requested);
        assertEquals(1, narrow.receive().join());
        assertEquals(3, source.requested);
        subscriber.onNext(3);
        subscriber.onComplete();
        assertTrue(!narrow.isClosed(), "the last element waits for its place");
        assertEquals(2, narrow.receive().join());
        assertTrue(narrow.isClosed());
        assertEquals(3, narrow.receive().join());
    }

    @Test
    void subscriber_endsTheChannelAsItsPublisherEnds_andItsSubscriptionAsTheChannelDoes() {
        Throwable why = new ArithmeticException();
        Flow.Subscriber<Integer> subscriber = channel.subscriber();
        Source source = new Source();
        subscriber.onSubscribe(source);
        subscriber.onError(why);
        assertSame(why, Futures.failure(channel.receive()).getCause());
        subscriber.onNext(1);
        assertTrue(source.cancelled);
        Source late = new Source();
        channel.subscriber().onSubscribe(late);
        assertTrue(late.cancelled);
    }

    @Test
    void subscriber_secondSubscriptionAndNulls_areRefused_2_5_2_13() {
        Flow.Subscriber<Integer> subscriber = channel.subscriber();
        assertThrows(NullPointerException.class, () -> subscriber.onSubscribe(null));
        subscriber.onSubscribe(new Source());
        Source second = new Source();
        subscriber.onSubscribe(second);
        assertTrue(second.cancelled);
        assertEquals(0, second.requested);
        assertThrows(NullPointerException.class, () -> subscriber.onNext(null));
        assertThrows(NullPointerException.class, () -> subscriber.onError(null));
        assertThrows(IllegalStateException.class, () -> channel.subscriber().onNext(1));
        assertEquals(0, channel.size());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 16})
    void pipe_ofPublisherChannelAndSubscriber_losesNothing(int capacity) {
        AsyncChannel<Integer> from = AsyncChannel.create(capacity);
        AsyncChannel<Integer> to = AsyncChannel.create(capacity);
        from.publisher().subscribe(to.subscriber());
        List<Integer> seen = new ArrayList<>();
        CompletableFuture<Void> ended = to.forEach(seen::add);
        try (SubmissionPublisher<Integer> source = new SubmissionPublisher<>()) {
            source.subscribe(from.subscriber());
            for (int i = 0; i < 10_000; i++) source.submit(i);
        }
        Futures.await(ended);
        assertEquals(IntStream.range(0, 10_000).boxed().toList(), seen);
    }
}
