package baton.interop.streams;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Flow;
import java.util.concurrent.ForkJoinPool;
import org.reactivestreams.tck.TestEnvironment;
import org.reactivestreams.tck.flow.IdentityFlowProcessorVerification;

/** The TCK's rules for a processor: a channel's subscriber and publisher combined. */
public class ProcessorRules extends IdentityFlowProcessorVerification<Integer> {
    /** Called by TestNG. */
    public ProcessorRules() {
        super(new TestEnvironment(ChannelFeeder.DEFAULT_TIMEOUT_MILLIS, ChannelFeeder.NO_SIGNALS_TIMEOUT_MILLIS));
    }

    @Override
    protected Flow.Processor<Integer, Integer> createIdentityFlowProcessor(int bufferSize) {
        return ChannelFeeder.processor(bufferSize);
    }

    @Override
    protected Flow.Publisher<Integer> createFailedFlowPublisher() {
        return ChannelFeeder.failedPublisher();
    }

    @Override
    public ExecutorService publisherExecutorService() {
        return ForkJoinPool.commonPool();
    }

    @Override
    public Integer createElement(int element) {
        return element;
    }

    /** Subscribers share the elements of a channel, so that each of several does not get them all. */
    @Override
    public long maxSupportedSubscribers() {
        return 1;
    }
}
