package baton.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Flow;

/** Records the signals that it receives, and fails on overlapping signals. */
public class Recorder<T> implements Flow.Subscriber<T> {
    public final List<Object> signals = new ArrayList<>();
    public Flow.Subscription subscription;
    private int inside;

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        signal("subscribed");
        this.subscription = subscription;
    }

    @Override
    public void onNext(T element) {
        signal(element);
    }

    @Override
    public void onError(Throwable why) {
        signal(why);
    }

    @Override
    public void onComplete() {
        signal("completed");
    }

    private void signal(Object what) {
        assertEquals(0, inside++);
        signals.add(what);
        inside--;
    }

    public Object last() {
        return signals.get(signals.size() - 1);
    }

    /** The signals after the first. */
    public List<Object> results() {
        return signals.subList(1, signals.size());
    }
}
