package baton.interop.internal.futures;

import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The failure of a request that may time out, with the place where the request began to wait. Created only where the
 * system property {@code baton.futures.traces} is {@code true}, because a stack trace costs far more than a request.
 */
public final class WaitTrace implements Supplier<TimeoutException> {
    /** Read once, so that the compiler drops the traces where they are off. */
    static final boolean IS_ENABLED = Boolean.getBoolean("baton.futures.traces");

    private final @Nullable Supplier<TimeoutException> late;
    private final Throwable waited = new Throwable("waited here");

    WaitTrace(@Nullable Supplier<TimeoutException> late) {
        this.late = late;
    }

    /** The trace of a select, or null where traces are off. */
    public static @Nullable WaitTrace ofSelect() {
        return IS_ENABLED ? new WaitTrace(null) : null;
    }

    public void addTo(Throwable failure) {
        failure.addSuppressed(waited);
    }

    /** Only of a request that can time out. */
    @Override
    public TimeoutException get() {
        return Objects.requireNonNull(late, "late").get();
    }
}
