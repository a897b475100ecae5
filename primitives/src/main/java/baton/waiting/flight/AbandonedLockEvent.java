package baton.waiting.flight;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;

@Name("baton.AbandonedLock")
@Label("Abandoned Lock")
@Category("Baton")
@Description("A lock between processes was taken over from a holder that has died")
final class AbandonedLockEvent extends Event {
    @Label("Lock")
    String lock;

    static void record(String lock) {
        var event = new AbandonedLockEvent();
        if (!event.shouldCommit()) return;
        event.lock = lock;
        event.commit();
    }
}
