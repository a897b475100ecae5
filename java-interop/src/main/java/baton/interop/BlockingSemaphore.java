package baton.interop;

import baton.PermitTimeoutException;
import baton.Priority;
import baton.bridge.SyncBridge;
import baton.interop.internal.futures.Late;
import baton.interop.internal.futures.SemaphorePermit;
import baton.interop.internal.futures.Timeout;
import baton.sync.Semaphore;
import baton.sync.SemaphoreClosedException;
import baton.sync.WaitOrder;
import baton.waiting.ThreadWaiter;
import baton.waiting.WaitCore;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Semaphore} for threads that may block: virtual threads above all. Made by {@link AsyncSemaphore#blocking()}.
 *
 * <pre>{@code
 * BlockingSemaphore uplink = AsyncSemaphore.create(5).blocking();
 * String body = uplink.call(() -> client.send(request, ofString()).body());
 * }</pre>
 *
 * <p>It has no state of its own: threads, Java futures, Kotlin coroutines and {@code select} clauses that use the same
 * semaphore wait in one queue, in the order of the semaphore. A waiting thread parks, so a virtual thread leaves its
 * carrier.
 *
 * <p><i>Interrupts.</i> An interrupt ends the wait: the request is withdrawn, and nothing is held when {@link
 * InterruptedException} is thrown. If the permits were granted just before, the call returns them, and the thread stays
 * interrupted. As in {@code java.util.concurrent}, a thread that is interrupted when it calls does not acquire.
 *
 * <p><i>Callbacks.</i> Closing a permit may run dependents of the futures that get it next before it returns, see
 * {@link AsyncSemaphore}.
 *
 * <p><i>Failures.</i> {@link SemaphoreClosedException} if the semaphore is closed, {@link PermitTimeoutException} once the
 * timeout has passed; nothing is held then.
 *
 * <p><i>Memory.</i> Actions before the closing of a permit happen before the actions that follow the acquire which gets
 * it next.
 */
public final class BlockingSemaphore {
    private final Semaphore semaphore;
    private final WaitCore core;

    BlockingSemaphore(Semaphore semaphore) {
        this.semaphore = semaphore;
        this.core = SyncBridge.of(semaphore);
    }

    /** Waits for one permit. */
    public Permit acquire() throws InterruptedException {
        return request(1, null);
    }

    /**
     * Waits for {@code permits} permits, granted all at once, as one {@link Permit}.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above the number of permits, unless that is 0
     */
    public Permit acquire(int permits) throws InterruptedException {
        return request(permits, null);
    }

    /** As {@link #acquire(int)}, at a level that counts where the order is {@link WaitOrder#PRIORITY}. */
    public Permit acquire(int permits, Priority priority) throws InterruptedException {
        return request(permits, Objects.requireNonNull(priority, "priority"));
    }

    /** As {@link #acquire(int, Duration)}, for one permit. */
    public Permit acquire(Duration timeout) throws InterruptedException, PermitTimeoutException {
        return requestWithin(1, null, timeout);
    }

    /**
     * As {@link #acquire(int)}, but waits {@code timeout} at most. With zero or less it does not wait.
     *
     * @throws PermitTimeoutException if the permits were not granted in time; nothing is held
     */
    public Permit acquire(int permits, Duration timeout) throws InterruptedException, PermitTimeoutException {
        return requestWithin(permits, null, timeout);
    }

    /** As {@link #acquire(int, Duration)}, at a level that counts where the order is {@link WaitOrder#PRIORITY}. */
    public Permit acquire(int permits, Priority priority, Duration timeout)
            throws InterruptedException, PermitTimeoutException {
        return requestWithin(permits, Objects.requireNonNull(priority, "priority"), timeout);
    }

    /** As {@link #acquire()}, but an interrupt does not end the wait. */
    public Permit acquireUninterruptibly() {
        return acquireUninterruptibly(1);
    }

    /** As {@link #acquire(int)}, but an interrupt does not end the wait. */
    public Permit acquireUninterruptibly(int permits) {
        SemaphorePermit permit = new SemaphorePermit(semaphore, permits);
        if (SyncBridge.tryAcquireAsThread(semaphore, permits)) return permit.handedOut();
        waiter(permits, null).awaitUninterruptibly();
        return permit.handedOut();
    }

    /**
     * One permit, if it can be granted at once.
     *
     * @throws SemaphoreClosedException if the semaphore is closed
     */
    public Optional<Permit> tryAcquire() {
        return tryAcquire(1);
    }

    /**
     * {@code permits} permits as one, if they can be granted at once.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above the number of permits, unless that is 0
     * @throws SemaphoreClosedException if the semaphore is closed
     */
    public Optional<Permit> tryAcquire(int permits) {
        SemaphorePermit permit = new SemaphorePermit(semaphore, permits);
        return SyncBridge.tryAcquireAsThread(semaphore, permits) ? Optional.of(permit.handedOut()) : Optional.empty();
    }

    /** As {@link #tryAcquire(int, Duration)}, for one permit. */
    public Optional<Permit> tryAcquire(Duration timeout) throws InterruptedException {
        return tryAcquire(1, timeout);
    }

    /**
     * As {@link #acquire(int, Duration)}, but returns nothing if the permits were not granted in time, instead of
     * throwing.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above the number of permits, unless that is 0
     * @throws SemaphoreClosedException if the semaphore is closed
     */
    public Optional<Permit> tryAcquire(int permits, Duration timeout) throws InterruptedException {
        return Optional.ofNullable(permitWithin(permits, null, timeout));
    }

    /**
     * All permits that are free, as one; nothing if none is free, or if a caller waits that this would overtake. It does
     * not wait.
     *
     * @throws SemaphoreClosedException if the semaphore is closed
     */
    public Optional<Permit> drain() {
        int permits = SyncBridge.drainAsThread(semaphore);
        return permits == 0 ? Optional.empty() : Optional.of(new SemaphorePermit(semaphore, permits).handedOut());
    }

    /** As {@link #call(int, Callable)}, for one permit. */
    public <T extends @Nullable Object> T call(Callable<T> action) throws Exception {
        return call(1, action);
    }

    /**
     * Runs {@code action} while holding {@code permits} permits, and returns its value.
     *
     * @throws IllegalArgumentException if {@code permits} is below 1 or above the number of permits, unless that is 0
     * @throws Exception as {@code action}; the permits are back then
     */
    public <T extends @Nullable Object> T call(int permits, Callable<T> action) throws Exception {
        Objects.requireNonNull(action, "action");
        return callHolding(acquire(permits), action);
    }

    /**
     * As {@link #call(Callable)}, but waits {@code timeout} at most for the permit.
     *
     * @throws PermitTimeoutException if the permit was not granted in time; {@code action} has not run
     */
    public <T extends @Nullable Object> T call(Duration timeout, Callable<T> action) throws Exception {
        Objects.requireNonNull(action, "action");
        return callHolding(acquire(timeout), action);
    }

    private static <T extends @Nullable Object> T callHolding(Permit held, Callable<T> action) throws Exception {
        try {
            return action.call();
        } finally {
            held.close();
        }
    }

    /**
     * Waits until no permit is held, as {@link AsyncSemaphore#awaitIdle} does. It takes no permits and holds back no
     * other request.
     */
    public void awaitIdle() throws InterruptedException {
        ThreadWaiter.throwIfInterrupted();
        waiter(SyncBridge.IDLE_WEIGHT, null).await();
    }

    /** As {@link #awaitIdle()}, but waits {@code timeout} at most. Returns whether no permit was held. */
    public boolean awaitIdle(Duration timeout) throws InterruptedException {
        long nanos = Timeout.nanos(timeout);
        ThreadWaiter.throwIfInterrupted();
        return waiter(SyncBridge.IDLE_WEIGHT, null).await(nanos);
    }

    @Override
    public String toString() {
        return "Blocking" + semaphore;
    }

    private Permit request(int permits, @Nullable Priority priority) throws InterruptedException {
        ThreadWaiter.throwIfInterrupted();
        SemaphorePermit permit = new SemaphorePermit(semaphore, permits);
        if (SyncBridge.tryAcquireAsThread(semaphore, permits)) return permit.handedOut();
        waiter(permits, priority).await();
        return permit.handedOut();
    }

    private Permit requestWithin(int permits, @Nullable Priority priority, Duration timeout)
            throws InterruptedException, PermitTimeoutException {
        Permit permit = permitWithin(permits, priority, timeout);
        if (permit == null) throw Late.acquire(permits, timeout, semaphore);
        return permit;
    }

    /** Null if the permits were not granted in time. */
    private @Nullable Permit permitWithin(int permits, @Nullable Priority priority, Duration timeout)
            throws InterruptedException {
        long nanos = Timeout.nanos(timeout);
        ThreadWaiter.throwIfInterrupted();
        SemaphorePermit permit = new SemaphorePermit(semaphore, permits);
        if (SyncBridge.tryAcquireAsThread(semaphore, permits)) return permit.handedOut();
        return nanos > 0 && waiter(permits, priority).await(nanos) ? permit.handedOut() : null;
    }

    private ThreadWaiter waiter(int permits, @Nullable Priority priority) {
        return new ThreadWaiter(core, permits, priority, semaphore);
    }
}
