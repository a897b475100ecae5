package baton.interop;

import baton.interop.internal.futures.LeakWatch;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Names permits that became unreachable without having been closed: a forgotten {@code close()}, or a future that was
 * granted one and that nobody read. Off unless {@linkplain #enable enabled}; then every permit remembers where it was
 * handed out, which costs a stack trace each. Reporting gives nothing back: the permit stays lost, the report says
 * which.
 *
 * <p>There is no thread behind it: lost permits are looked for whenever a permit is handed out, and by {@link
 * #check()}. The garbage collector must have found them before.
 */
public final class LeakReport {
    private LeakReport() {}

    /**
     * A permit that was lost.
     *
     * @param permit what was held, in words
     * @param handedOut its stack trace says where
     */
    public record Leak(String permit, Throwable handedOut) {}

    /**
     * Reports permits that are handed out from now on to {@code listener}, which may be called by any thread. What it
     * throws goes to that thread's handler for uncaught exceptions.
     */
    public static void enable(Consumer<Leak> listener) {
        LeakWatch.enable(Objects.requireNonNull(listener, "listener"));
    }

    /** Ends reporting, and forgets the permits that were watched. */
    public static void disable() {
        LeakWatch.disable();
    }

    /** Reports the permits that the garbage collector has found unreachable since the last look. */
    public static void check() {
        LeakWatch.check();
    }
}
