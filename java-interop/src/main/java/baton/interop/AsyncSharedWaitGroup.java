package baton.interop;

import baton.interop.internal.futures.Late;
import baton.interop.internal.futures.SharedCallFuture;
import baton.shared.AbandonedException;
import baton.shared.SharedRegionException;
import baton.shared.SharedWaitGroup;
import baton.shared.bridge.SharedBridge;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A {@link SharedWaitGroup} for Java: counts pending work of several processes. Its class describes death, memory and
 * misuse.
 *
 * <pre>{@code
 * jobs.add(files.size());
 * files.forEach(this::handToAWorker); // The worker calls jobs.done().
 * jobs.await().thenRun(this::report);
 * }</pre>
 *
 * <p><i>Cancellation.</i> Cancelling the future changes nothing else.
 *
 * <p><i>Callbacks.</i> Dependents of a future that had to wait run on a callback thread. They must not block for long.
 *
 * <p>All methods may be called from any thread.
 */
@SuppressWarnings("exports") // of baton.shared, which the callers require
public final class AsyncSharedWaitGroup {
    private final SharedWaitGroup group;

    private AsyncSharedWaitGroup(SharedWaitGroup group) {
        this.group = group;
    }

    /** The Java API of the given wait group; the two share all state. */
    public static AsyncSharedWaitGroup of(SharedWaitGroup group) {
        return new AsyncSharedWaitGroup(Objects.requireNonNull(group, "group"));
    }

    /** The Kotlin wait group behind this. */
    public SharedWaitGroup kotlin() {
        return group;
    }

    /** Adds 1 to the count; see {@link #add(int)}. */
    public void add() {
        group.add(1);
    }

    /**
     * Adds {@code n} to the count.
     *
     * @throws IllegalArgumentException if {@code n} is below 1
     * @throws IllegalStateException if the count would be above 1,048,575; nothing is added
     * @throws SharedRegionException if the region has ended
     */
    public void add(int n) {
        group.add(n);
    }

    /**
     * Decrements the count.
     *
     * @throws IllegalStateException if the count is zero
     * @throws SharedRegionException if the region has ended
     */
    public void done() {
        group.done();
    }

    /**
     * A future that completes when the count is zero. It fails with {@link AbandonedException} if a process died before
     * its work was done, and with {@link SharedRegionException} if the region has ended or ends.
     */
    public CompletableFuture<@Nullable Void> await() {
        return start(null);
    }

    /**
     * As {@link #await()}, but fails with {@link TimeoutException} if the count is not zero in time. With zero or less
     * it succeeds or fails at once. The timeout is rounded up to whole milliseconds.
     */
    public CompletableFuture<@Nullable Void> await(Duration timeout) {
        return start(Objects.requireNonNull(timeout, "timeout"));
    }

    private CompletableFuture<@Nullable Void> start(@Nullable Duration timeout) {
        return SharedCallFuture.start(
                "await",
                SharedBridge.labelOf(group),
                group,
                done -> SharedBridge.await(group, timeout, () -> Late.await(timeout, group), done));
    }

    /**
     * As {@link #await()}, but blocks the thread while it waits. A virtual thread leaves its carrier.
     *
     * @throws AbandonedException if a process died before its work was done
     * @throws InterruptedException if the thread is interrupted
     * @throws SharedRegionException if the region has ended, or ends while the caller waits
     */
    public void awaitBlocking() throws InterruptedException {
        group.awaitBlocking();
    }

    /**
     * As {@link #awaitBlocking()}, but waits {@code timeout} at most; returns whether the count was zero. With zero or
     * less it does not wait.
     */
    public boolean awaitBlocking(Duration timeout) throws InterruptedException {
        return group.awaitBlocking(Objects.requireNonNull(timeout, "timeout"));
    }

    /**
     * The number of added pieces of work that are not done, those of a dead process included until a caller waits.
     *
     * @throws SharedRegionException if the region has ended
     */
    public int count() {
        return group.getCount();
    }

    @Override
    public String toString() {
        return "Async" + group;
    }
}
