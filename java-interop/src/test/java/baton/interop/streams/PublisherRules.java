package baton.interop.streams;

import java.util.concurrent.Flow;
import org.reactivestreams.tck.TestEnvironment;
import org.reactivestreams.tck.flow.FlowPublisherVerification;

/** The TCK's rules for a publisher. */
public class PublisherRules extends FlowPublisherVerification<Integer> {
    /** Called by TestNG. */
    public PublisherRules() {
        super(new TestEnvironment(ChannelFeeder.DEFAULT_TIMEOUT_MILLIS, ChannelFeeder.NO_SIGNALS_TIMEOUT_MILLIS));
    }

    @Override
    public Flow.Publisher<Integer> createFlowPublisher(long elements) {
        return ChannelFeeder.publisher(elements);
    }

    @Override
    public Flow.Publisher<Integer> createFailedFlowPublisher() {
        return ChannelFeeder.failedPublisher();
    }
}
