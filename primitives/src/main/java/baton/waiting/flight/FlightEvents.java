package baton.waiting.flight;

import baton.InternalBatonApi;
import java.util.function.BiConsumer;
import jdk.jfr.FlightRecorder;

/**
 * The events of this library in a recording of the JDK Flight Recorder. Until there is a recording, none of their
 * classes is loaded, and callers pay one static call on their slow path. The module {@code jdk.jfr} may be missing.
 */
@InternalBatonApi
public final class FlightEvents {
    private static final boolean CAN_BE = canBe();

    private FlightEvents() {}

    private static boolean canBe() {
        try {
            Class.forName("jdk.jfr.FlightRecorder", false, FlightEvents.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }

    /** Whether there is, or was, a recording. Each event then looks at the settings by itself. */
    public static boolean areOn() {
        return CAN_BE && FlightRecorder.isInitialized();
    }

    /** Whether waits are recorded at the moment. */
    public static boolean includeWaits() {
        return areOn() && WaitEvent.isOn();
    }

    /** Records the wait of a future, which begins now, when it is called with the end of the future. */
    public static BiConsumer<Object, Throwable> wait(String primitive, String call, String caller) {
        var event = new WaitEvent();
        return (value, failure) -> {
            if (event.endsRecorded()) event.record(primitive, call, caller, false, failure);
        };
    }

    /** A run of a schedule begins; null if there is no recording. */
    public static RecordedRun run() {
        return areOn() ? new RecordedRun() : null;
    }

    /** A call of {@code primitive} was refused. */
    public static <E extends Throwable> E refused(String primitive, E refusal) {
        if (areOn()) RefusalEvent.record(primitive, refusal);
        return refusal;
    }

    /** The {@code breaker} has changed its state. */
    public static void stateChanged(String breaker, String from, String to) {
        if (areOn()) BreakerStateEvent.record(breaker, from, to);
    }

    /** The caller holds {@code lock}, whose last holder has died. */
    public static void abandoned(String lock) {
        if (areOn()) AbandonedLockEvent.record(lock);
    }
}
