package baton.interop.internal.futures;

import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * The failure of a future that was cancelled, without the stack of the thread that did so: reading that stack costs
 * several times what the cancel itself costs. The system property {@code baton.futures.traces} brings it back.
 */
public final class UntracedCancellationException extends CancellationException {
    private static final long serialVersionUID = 1;

    public UntracedCancellationException(@Nullable String message) {
        super(message);
    }

    @Override
    public synchronized Throwable fillInStackTrace() {
        return WaitTrace.IS_ENABLED ? super.fillInStackTrace() : this;
    }
}
