package baton.waiting.flight;

import baton.InternalBatonApi;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

/** A wait, of a coroutine, a thread or a future. Made by {@link FlightEvents#newWait}. */
@Name("baton.Wait")
@Label("Wait")
@Category("Baton")
@Description("A caller waited at a primitive, in a queue of coroutines, threads and futures")
@Threshold("20 ms")
@StackTrace(false) // a coroutine's is that of the thread that resumes it
@InternalBatonApi
public final class WaitEvent extends Event {
    @Label("Primitive")
    String primitive;

    @Label("Call")
    String call;

    @Label("Caller")
    @Description("The name of the coroutine or thread, or the owner")
    String caller;

    @Label("Outcome")
    @Description("granted, timed out, cancelled, or the class of the exception")
    String outcome;

    private static final EventType TYPE = EventType.getEventType(WaitEvent.class);

    WaitEvent() {
        begin();
    }

    static boolean isOn() {
        return TYPE.isEnabled();
    }

    /** The wait has ended. Returns whether that is to be recorded: names may call code of users. */
    public boolean endsRecorded() {
        end();
        return shouldCommit();
    }

    /** It has ended by the {@code failure} or, if that is null, with a grant unless it {@code isLate}. */
    public void record(String primitive, String call, String caller, boolean isLate, Throwable failure) {
        this.primitive = primitive;
        this.call = call;
        this.caller = caller;
        outcome = isLate ? TIMED_OUT : failure == null ? "granted" : outcomeOf(failure);
        commit();
    }

    private static String outcomeOf(Throwable failure) {
        if (failure instanceof CancellationException || failure instanceof InterruptedException) return "cancelled";
        return failure instanceof TimeoutException
                ? TIMED_OUT
                : failure.getClass().getName();
    }

    private static final String TIMED_OUT = "timed out";
}
