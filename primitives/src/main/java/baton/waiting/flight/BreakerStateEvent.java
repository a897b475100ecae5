package baton.waiting.flight;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

@Name("baton.BreakerState")
@Label("Breaker State")
@Category("Baton")
@Description("A circuit breaker has changed its state")
@StackTrace(false) // of the caller whose result has changed it
final class BreakerStateEvent extends Event {
    @Label("Breaker")
    String breaker;

    @Label("From")
    String from;

    @Label("To")
    String to;

    static void record(String breaker, String from, String to) {
        var event = new BreakerStateEvent();
        if (!event.shouldCommit()) return;
        event.breaker = breaker;
        event.from = from;
        event.to = to;
        event.commit();
    }
}
