package baton.interop.internal.cancel;

import baton.interop.CancellableFuture;
import java.util.Objects;

/** The work behind a future, for tests outside of this package. */
public final class Works {
    private Works() {}

    public static CancellableWork workOf(CancellableFuture<?> future) {
        CancellationNode<?> node = future;
        return Objects.requireNonNull(node.work);
    }
}
