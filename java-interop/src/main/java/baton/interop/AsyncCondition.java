package baton.interop;

import baton.bridge.Durations;
import baton.bridge.SyncBridge;
import baton.interop.internal.blocking.MutexCondition;
import baton.interop.internal.futures.HeldPermit;
import baton.interop.internal.futures.MutexPermit;
import baton.interop.internal.futures.Timeout;
import baton.interop.internal.futures.WaiterFuture;
import baton.sync.Condition;
import baton.sync.Mutex;
import baton.waiting.WaitCore;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Condition} for Java. A holder of the mutex releases it and waits here until another holder signals. Made by
 * {@link AsyncMutex#newCondition()}.
 *
 * <pre>{@code
 * CompletableFuture<Item> take() {
 *     return mutex.lock().thenCompose(this::takeHolding);
 * }
 *
 * private CompletableFuture<Item> takeHolding(Permit held) {
 *     if (items.isEmpty()) return notEmpty.await(held).thenCompose(this::takeHolding);
 *     try (held) {
 *         return CompletableFuture.completedFuture(items.remove());
 *     }
 * }
 * }</pre>
 *
 * <p>{@code await} closes the permit of the mutex that it is given, and its future completes with a new one. Futures
 * and Kotlin coroutines wait in one queue and are signalled in the order of their arrival. There are no spurious
 * wake-ups. But other holders may have had the mutex between the signal and the new permit, so check the awaited state
 * again.
 *
 * <p><i>Cancellation.</i> Cancelling the future, completing it from outside, and a timeout end the wait, for the signal
 * or for the mutex, before any thread sees the future completed. Unlike a coroutine, <b>a future that failed holds
 * nothing</b>: neither the old permit nor a new one; lock the mutex again if it is needed. A signal that the future had
 * received goes to the next of those that waited when the signal was given.
 *
 * <p><i>Misuse.</i> A wait or a signal while the mutex is not held fails with {@link IllegalStateException} and changes
 * nothing. Whether the caller is the holder is checked only by the permit that {@code await} takes.
 *
 * <p><i>Callbacks, memory.</i> As for {@link AsyncMutex}.
 */
public final class AsyncCondition {
    private final Condition condition;
    private final Mutex mutex;
    private final WaitCore core;

    private AsyncCondition(Condition condition) {
        this.condition = condition;
        this.mutex = condition.getMutex();
        this.core = SyncBridge.of(condition);
    }

    /** The Java API of the given condition; the two share all state. */
    public static AsyncCondition of(Condition condition) {
        return new AsyncCondition(Objects.requireNonNull(condition, "condition"));
    }

    /** The Kotlin condition behind this. */
    public Condition kotlin() {
        return condition;
    }

    /**
     * A view of the same condition for threads that hold the mutex by {@link AsyncMutex#blocking()}. Threads, futures
     * and coroutines wait in one queue.
     */
    public java.util.concurrent.locks.Condition blocking() {
        return new MutexCondition(condition);
    }

    /**
     * Releases the mutex, waits for a signal, and then for the mutex, with the same owner. The future fails with
     * {@link IllegalStateException} if {@code held} is closed, or if other code has unlocked the mutex, bypassing it.
     *
     * @param held is closed by this call
     * @throws IllegalArgumentException if {@code held} is not a permit of the mutex
     */
    public CompletableFuture<Permit> await(Permit held) {
        return request(held, null, null);
    }

    /**
     * As {@link #await(Permit)}, but once the mutex is held again, the future is completed on {@code executor}; by the
     * unlocking thread if the executor rejects that.
     */
    public CompletableFuture<Permit> await(Permit held, Executor executor) {
        return request(held, Objects.requireNonNull(executor, "executor"), null);
    }

    /**
     * As {@link #await(Permit)}, but fails with {@link TimeoutException}, without the mutex, if it was not signalled
     * and granted the mutex in time. Zero or less is too late for any signal. The timeout is rounded up to whole
     * milliseconds.
     *
     * @throws IllegalArgumentException if {@code held} is not a permit of the mutex; it stays open then
     */
    public CompletableFuture<Permit> await(Permit held, Duration timeout) {
        return request(held, null, Objects.requireNonNull(timeout, "timeout"));
    }

    /**
     * Ends the wait of the request that has waited longest, if there is one.
     *
     * @throws IllegalStateException if the mutex is not locked
     */
    public void signal() {
        condition.signal();
    }

    /**
     * Ends the wait of all requests that wait now. They get the mutex one after the other, in the order of their
     * arrival.
     *
     * @throws IllegalStateException if the mutex is not locked
     */
    public void signalAll() {
        condition.signalAll();
    }

    /** The number of requests that wait for a signal, of Java and Kotlin callers. */
    public int waiting() {
        return condition.getWaiting();
    }

    @Override
    public String toString() {
        return "Async" + condition;
    }

    private CompletableFuture<Permit> request(Permit held, @Nullable Executor executor, @Nullable Duration timeout) {
        MutexPermit permit = permitOf(held);
        Permit grant = new MutexPermit(mutex, permit.owner);
        // May fail, so before the permit is closed.
        WaiterFuture<Permit> future = WaiterFuture.atCondition(core, permit.owner, grant, executor);
        if (!permit.markClosed()) return closed();
        Supplier<TimeoutException> late = timeout == null ? null : () -> late(timeout);
        if (late != null && Timeout.isOver(timeout)) return tooLate(permit, late);
        return future.startOr(permit::releaseHeld, timeout, late);
    }

    private TimeoutException late(Duration timeout) {
        return new TimeoutException("not signalled within " + Durations.textOf(timeout) + ": " + condition);
    }

    private MutexPermit permitOf(Permit held) {
        Objects.requireNonNull(held, "held");
        if (held instanceof MutexPermit permit && permit.mutex == mutex) return permit;
        Object shown = held instanceof HeldPermit ? held : held.getClass().getName();
        throw new IllegalArgumentException("held = " + shown + ", must be a permit of " + mutex);
    }

    private CompletableFuture<Permit> closed() {
        return CompletableFuture.failedFuture(
                new IllegalStateException("await with a permit that is closed: " + condition));
    }

    private static CompletableFuture<Permit> tooLate(MutexPermit permit, Supplier<TimeoutException> late) {
        try {
            permit.releaseHeld();
        } catch (IllegalStateException e) { // other code has unlocked the mutex, bypassing the permit
            return CompletableFuture.failedFuture(e);
        }
        return CompletableFuture.failedFuture(late.get());
    }
}
