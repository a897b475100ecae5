package samples.support;

import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** An executor with a virtual thread for each task. The samples are compiled for a JDK that has none. */
public final class VirtualThreadExecutor {
    private VirtualThreadExecutor() {}

    /** A new executor; empty before JDK 21. */
    public static Optional<ExecutorService> open() {
        try {
            return Optional.of((ExecutorService)
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null));
        } catch (ReflectiveOperationException | UnsupportedOperationException noVirtualThreads) {
            return Optional.empty();
        }
    }
}
