package baton.interop;

import baton.interop.internal.futures.LeakWatch;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Reports permits that became unreachable without having been closed, because of a forgotten {@code close()}, or of a
 * future that was granted a permit and never read. It is off unless {@linkplain #enable enabled}; then every permit
 * records the place where it was handed out, which costs one stack trace per permit. Reporting releases nothing: the
 * permit stays lost, and the report identifies it.
 *
 * <pre>{@code
 * LeakReport.enable(leak -> log.println("lost: " + leak.permit()));
 * }</pre>
 *
 * <p>It has no thread: each handing out of a permit, and {@link #check()}, look for lost permits. They find a permit
 * only after the garbage collector has found it unreachable.
 */
public final class LeakReport {
    private LeakReport() {}

    /**
     * A permit that was lost.
     *
     * @param permit describes what was held
     * @param handedOut its stack trace shows where the permit was handed out
     */
    public record Leak(String permit, Throwable handedOut) {}

    /**
     * Reports permits that are handed out from now on to {@code listener}. Any thread may call the listener. An
     * exception that it throws goes to that thread's handler for uncaught exceptions.
     */
    public static void enable(Consumer<Leak> listener) {
        LeakWatch.enable(Objects.requireNonNull(listener, "listener"));
    }

    /** Ends reporting, and forgets the watched permits. */
    public static void disable() {
        LeakWatch.disable();
    }

    /** Reports the permits that the garbage collector has found unreachable since the last check. */
    public static void check() {
        LeakWatch.check();
    }
}
