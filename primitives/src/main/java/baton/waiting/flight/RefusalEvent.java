package baton.waiting.flight;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;

@Name("baton.Refusal")
@Label("Refusal")
@Category("Baton")
@Description("A call was not admitted")
final class RefusalEvent extends Event {
    @Label("Primitive")
    String primitive;

    @Label("Exception")
    Class<?> exception;

    @Label("Message")
    String message;

    static void record(String primitive, Throwable refusal) {
        var event = new RefusalEvent();
        if (!event.shouldCommit()) return;
        event.primitive = primitive;
        event.exception = refusal.getClass();
        event.message = refusal.getMessage();
        event.commit();
    }
}
