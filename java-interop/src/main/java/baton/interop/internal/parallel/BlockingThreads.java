package baton.interop.internal.parallel;

import baton.interop.internal.futures.VirtualThreads;
import baton.waiting.threads.LimitedViews;
import java.util.concurrent.Executor;
import kotlinx.coroutines.Dispatchers;
import kotlinx.coroutines.ExecutorsKt;

/** The threads of maps for which the caller names no executor. */
public final class BlockingThreads {
    private static final boolean HAS_VIRTUAL = Runtime.version().feature() >= 21;
    private static final Executor DEFAULT =
            HAS_VIRTUAL ? VirtualThreads.open() : ExecutorsKt.asExecutor(Dispatchers.getIO());

    private BlockingThreads() {}

    /** Virtual threads; before JDK 21 those of {@code Dispatchers.IO}, which are made for calls that block. */
    public static Executor defaultExecutor() {
        return DEFAULT;
    }

    /**
     * The executor of one call, or of one schedule. Views of {@code Dispatchers.IO} share neither its bound nor one another's. So a function may
     * itself call a map and wait for it, however many threads the calls outside hold.
     */
    public static Executor ofCall(Executor executor, int limit) {
        if (HAS_VIRTUAL || executor != DEFAULT) return executor;
        return ExecutorsKt.asExecutor(LimitedViews.of(Dispatchers.getIO(), limit));
    }
}
