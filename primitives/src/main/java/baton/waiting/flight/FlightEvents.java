package baton.waiting.flight;

import baton.InternalBatonApi;
import baton.PermitTimeoutException;
import java.time.Duration;
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

    // In each of the following an event that finds no stack or memory is left out. The caller may have been granted
    // what it waited for, and must get it. A class that could not be loaded then stays broken.

    /** A wait begins; null if waits are not recorded. */
    public static WaitEvent newWait() {
        try {
            return areOn() && WaitEvent.isOn() ? new WaitEvent() : null;
        } catch (VirtualMachineError | LinkageError e) {
            return null;
        }
    }

    /**
     * Returns what is to be called at the end of the wait of a future, which begins now; null if waits are not recorded.
     */
    public static BiConsumer<Object, Throwable> newFutureWait(String primitive, String call, String caller) {
        WaitEvent event = newWait();
        return event == null
                ? null
                : (value, failure) -> {
                    if (event.endsRecorded()) event.record(primitive, call, caller, false, failure);
                };
    }

    /** An attempt of a run of a schedule begins; null if there is no recording. */
    public static RecordedAttempt newAttempt() {
        try {
            return areOn() ? new RecordedAttempt() : null;
        } catch (VirtualMachineError | LinkageError e) {
            return null;
        }
    }

    /** A call of {@code primitive} was refused. */
    public static <E extends Throwable> E refused(String primitive, E refusal) {
        try {
            if (areOn()) RefusalEvent.record(primitive, refusal);
        } catch (VirtualMachineError | LinkageError e) {
            // See above.
        }
        return refusal;
    }

    /** A call of {@code primitive} was not granted in time. The message is {@code text} and the state. */
    public static PermitTimeoutException late(String text, Object primitive) {
        return late(text, primitive, null);
    }

    /** As the other. {@code retryIn} is the time after which the call may be granted; null if it is not known. */
    public static PermitTimeoutException late(String text, Object primitive, Duration retryIn) {
        String state = primitive.toString();
        return refused(state, new PermitTimeoutException(text + state, retryIn));
    }

    /** The {@code breaker} has changed its state. */
    public static void stateChanged(String breaker, String from, String to) {
        try {
            if (areOn()) BreakerStateEvent.record(breaker, from, to);
        } catch (VirtualMachineError | LinkageError e) {
            // See above.
        }
    }

    /** The caller holds {@code lock}, whose last holder has died. */
    public static void abandoned(String lock) {
        try {
            if (areOn()) AbandonedLockEvent.record(lock);
        } catch (VirtualMachineError | LinkageError e) {
            // See above.
        }
    }
}
