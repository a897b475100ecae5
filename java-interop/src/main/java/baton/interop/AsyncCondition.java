package baton.interop;

import baton.bridge.SyncBridge;
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
 * A {@link Condition} for Java. Who holds the mutex waits here without it, for what other holders are to bring about.
 * Made by {@link AsyncMutex#newCondition()}.
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
 * <p>{@code await} takes the permit of the mutex, which is closed from then on, and its future brings another. Futures
 * and Kotlin coroutines stand in one line, first come, first signalled. There are no spurious wake-ups; but others may
 * have held the mutex between the signal and the new permit, so look again at what you waited for.
 *
 * <p><i>Cancellation.</i> Cancelling the future, completing it from outside, and a timeout end the wait, for the signal
 * or for the mutex, before anybody sees the future completed. Unlike a coroutine, <b>a future that failed holds
 * nothing</b>: neither the permit that was given nor another; who needs the mutex then locks it. A signal that it had
 * got goes to the next of those who waited when it was given.
 *
 * <p><i>Misuse.</i> What waits or signals while nobody holds the mutex fails with {@link IllegalStateException} and
 * changes nothing. Whether it is the caller who holds it cannot be seen, but by the permit that {@code await} takes.
 *
 * <p><i>CallbackExecutor, memory.</i> As for {@link AsyncMutex}.
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

    /** The Java face of that very condition. */
    public static AsyncCondition of(Condition condition) {
        return new AsyncCondition(Objects.requireNonNull(condition, "condition"));
    }

    /** The condition behind this face. */
    public Condition kotlin() {
        return condition;
    }

    /**
     * Gives up the mutex, waits for a signal, and then for the mutex, for the owner who held it. The future fails with
     * {@link IllegalStateException} if {@code held} is closed, or if somebody has unlocked the mutex past it.
     *
     * @param held is spent
     * @throws IllegalArgumentException if {@code held} is not a permit of the mutex
     */
    public CompletableFuture<Permit> await(Permit held) {
        return enqueue(mine(held), null);
    }

    /**
     * As {@link #await(Permit)}; when the mutex is held again, the future is completed on {@code executor}, and by
     * whoever unlocked if that rejects it.
     */
    public CompletableFuture<Permit> await(Permit held, Executor executor) {
        return enqueue(mine(held), Objects.requireNonNull(executor, "executor"));
    }

    /**
     * As {@link #await(Permit)}, but fails with {@link TimeoutException}, without the mutex, if it was not signalled
     * and given the mutex in time. Zero and less are too late for any signal. The timeout is rounded up to whole
     * milliseconds.
     *
     * @throws IllegalArgumentException if {@code held} is not a permit of the mutex; it is not spent then
     */
    public CompletableFuture<Permit> await(Permit held, Duration timeout) {
        MutexPermit permit = mine(held);
        long millis = Timeout.millis(timeout);
        if (!permit.spend()) return closed();
        Supplier<String> message = () -> "not signalled within " + timeout + ": " + condition;
        if (millis == 0) return tooLate(permit, message);
        return WaiterFuture.awaitSignal(core, permit.owner, successor(permit), millis, message);
    }

    /**
     * Ends the wait of the one who waits longest; without anybody who waits it does nothing.
     *
     * @throws IllegalStateException if the mutex is not locked
     */
    public void signal() {
        condition.signal();
    }

    /**
     * Ends the wait of all who wait now. They have the mutex one after the other, in the order in which they came.
     *
     * @throws IllegalStateException if the mutex is not locked
     */
    public void signalAll() {
        condition.signalAll();
    }

    /** How many wait for a signal, of Java and Kotlin callers. */
    public int waiting() {
        return condition.getWaiting();
    }

    @Override
    public String toString() {
        return "Async" + condition;
    }

    private CompletableFuture<Permit> enqueue(MutexPermit permit, @Nullable Executor executor) {
        if (!permit.spend()) return closed();
        return WaiterFuture.awaitSignal(core, permit.owner, successor(permit), executor);
    }

    private MutexPermit mine(Permit held) {
        Objects.requireNonNull(held, "held");
        if (held instanceof MutexPermit permit && permit.mutex == mutex) return permit;
        Object shown = held instanceof HeldPermit ? held : held.getClass().getName();
        throw new IllegalArgumentException("held = " + shown + ", must be a permit of " + mutex);
    }

    private CompletableFuture<Permit> closed() {
        return CompletableFuture.failedFuture(
                new IllegalStateException("await with a permit that is closed: " + condition));
    }

    private static CompletableFuture<Permit> tooLate(MutexPermit permit, Supplier<String> message) {
        try {
            permit.giveBack();
        } catch (IllegalStateException e) { // somebody has unlocked past the permit
            return CompletableFuture.failedFuture(e);
        }
        return CompletableFuture.failedFuture(new TimeoutException(message.get()));
    }

    private static Permit successor(MutexPermit permit) {
        return new MutexPermit(permit.mutex, permit.owner);
    }
}
