package baton.interop.streams;

import baton.interop.AsyncChannel;
import java.util.concurrent.Flow;
import org.reactivestreams.tck.TestEnvironment;
import org.reactivestreams.tck.flow.FlowSubscriberBlackboxVerification;

/** The TCK's rules for a subscriber that requests by itself. */
public class SubscriberRules extends FlowSubscriberBlackboxVerification<Integer> {
    /** Called by TestNG. */
    public SubscriberRules() {
        super(new TestEnvironment(ChannelFeeder.DEFAULT_TIMEOUT_MILLIS, ChannelFeeder.NO_SIGNALS_TIMEOUT_MILLIS));
    }

    @Override
    public Flow.Subscriber<Integer> createFlowSubscriber() {
        return AsyncChannel.<Integer>create(1_000).subscriber();
    }

    @Override
    public Integer createElement(int element) {
        return element;
    }
}
