package baton.interop;

import baton.bridge.SyncBridge;
import baton.interop.internal.futures.Countdown;
import baton.sync.WaitGroup;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A {@link WaitGroup} for Java: counts what is under way, and lets others wait until nothing is. {@link #add} before
 * something begins, {@link #done} when it has ended. Who waits gets a {@link CompletableFuture}.
 *
 * <p>It has no state of its own: Java futures, Kotlin coroutines and {@code select} clauses that await the same group
 * stand in one queue. No method blocks; who wants to block calls {@code join()}, on a virtual thread best of all.
 *
 * <p><i>Zero.</i> Whoever waits at a moment at which the count is zero is let in by it, although {@code add} may follow
 * at once; whoever comes after that moment is not told of it. The group can be used again after it was at zero.
 *
 * <p><i>Misuse.</i> {@link #done} at zero, and an {@link #add} beyond {@link Integer#MAX_VALUE}, throw
 * {@link IllegalStateException} at the call and change nothing.
 *
 * <p><i>Order, cancellation, callbacks.</i> As for {@link AsyncLatch}.
 *
 * <p><i>Memory.</i> What happens before a {@code done} happens before whatever follows an await that ends because of
 * the zero which that {@code done}, perhaps with others, brought about.
 */
public final class AsyncWaitGroup {
    private final WaitGroup group;
    private final Countdown countdown;

    private AsyncWaitGroup(WaitGroup group) {
        this.group = group;
        this.countdown = new Countdown(SyncBridge.of(group), group::getCount);
    }

    /** The Java face of that very group. */
    public static AsyncWaitGroup of(WaitGroup group) {
        return new AsyncWaitGroup(Objects.requireNonNull(group, "group"));
    }

    /** A new group, at zero. */
    public static AsyncWaitGroup create() {
        return create(null);
    }

    /**
     * A new group, at zero.
     *
     * @param name shown by messages and {@code toString}, or null
     */
    public static AsyncWaitGroup create(@Nullable String name) {
        return of(new WaitGroup(name));
    }

    /** The group behind this face. */
    public WaitGroup kotlin() {
        return group;
    }

    /** As {@link #add(int)}, for one. */
    public void add() {
        group.add(1);
    }

    /**
     * Adds {@code n} to the count.
     *
     * @throws IllegalArgumentException if {@code n} is below 1
     * @throws IllegalStateException if the count would be above {@link Integer#MAX_VALUE}; nothing is added
     */
    public void add(int n) {
        group.add(n);
    }

    /**
     * Takes one off the count, and at zero lets in all who wait.
     *
     * @throws IllegalStateException if the count is zero
     */
    public void done() {
        group.done();
    }

    /** A future that completes at a moment at which the count is zero; completed at once if it is. */
    public CompletableFuture<@Nullable Void> await() {
        return countdown.await(null);
    }

    /**
     * As {@link #await()}; when it had to wait, the future is completed on {@code executor}, and by whoever reaches
     * zero if that rejects it.
     */
    public CompletableFuture<@Nullable Void> await(Executor executor) {
        return countdown.await(Objects.requireNonNull(executor, "executor"));
    }

    /**
     * As {@link #await()}, but fails with {@link TimeoutException} if the count was not zero in time. A timeout of zero
     * or less means now or not at all. The timeout is rounded up to whole milliseconds.
     */
    public CompletableFuture<@Nullable Void> await(Duration timeout) {
        return countdown.await(timeout, () -> "not at zero within " + timeout + ": " + group);
    }

    /** How many have been added and are not done. */
    public int count() {
        return group.getCount();
    }

    /** How many requests wait, of Java and Kotlin callers. */
    public int waiting() {
        return group.getWaiting();
    }

    @Override
    public String toString() {
        return "Async" + group;
    }
}
