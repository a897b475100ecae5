package baton.interop.streams;

import baton.interop.Tasks;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.stream.IntStream;
import org.reactivestreams.tck.TestEnvironment;
import org.reactivestreams.tck.flow.FlowPublisherVerification;

/** The rules of the TCK for a published map whose source is another published map. */
public class MapRules extends FlowPublisherVerification<Integer> {
    /** Called by TestNG. */
    public MapRules() {
        super(new TestEnvironment(ChannelFeeder.DEFAULT_TIMEOUT_MILLIS, ChannelFeeder.NO_SIGNALS_TIMEOUT_MILLIS));
    }

    @Override
    public Flow.Publisher<Integer> createFlowPublisher(long elements) {
        Iterable<Integer> numbers =
                () -> IntStream.iterate(0, i -> i + 1).limit(elements).iterator();
        return Tasks.mapLimit(
                Tasks.processInChunks(numbers, 1, 3, CompletableFuture::completedFuture),
                4,
                chunk -> CompletableFuture.supplyAsync(() -> chunk.get(0)));
    }

    @Override
    public Flow.Publisher<Integer> createFailedFlowPublisher() {
        return Tasks.mapLimit(
                ChannelFeeder.failedPublisher(), 4, element -> CompletableFuture.completedFuture(element));
    }

    /** Without this the TCK makes no publisher with so many elements. */
    @Override
    public long maxElementsFromPublisher() {
        return Integer.MAX_VALUE;
    }
}
