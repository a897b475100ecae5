package baton.interop.streams;

import baton.interop.AsyncChannel;
import java.util.concurrent.Flow;

/** Creates the publishers and processors for the Reactive Streams TCK. */
final class ChannelFeeder {
    static final long DEFAULT_TIMEOUT_MILLIS = 2_000;
    static final long NO_SIGNALS_TIMEOUT_MILLIS = 30;

    private ChannelFeeder() {}

    /** A publisher of the given number of elements, from a channel that is sent the next element when it has room. */
    static Flow.Publisher<Integer> publisher(long elements) {
        AsyncChannel<Integer> channel = AsyncChannel.create(8);
        feed(channel, elements);
        return channel.publisher();
    }

    private static void feed(AsyncChannel<Integer> channel, long elements) {
        long left = elements;
        while (left > 0 && channel.trySend((int) left)) left--;
        long rest = left - 1;
        if (left == 0) {
            channel.close();
        } else {
            var unused = channel.send((int) left).thenRun(() -> feed(channel, rest));
        }
    }

    static Flow.Publisher<Integer> failedPublisher() {
        AsyncChannel<Integer> channel = AsyncChannel.create(1);
        channel.close(new IllegalStateException("closed with this"));
        return channel.publisher();
    }

    static Flow.Processor<Integer, Integer> processor(int capacity) {
        return new ChannelProcessor(AsyncChannel.create(capacity));
    }
}
