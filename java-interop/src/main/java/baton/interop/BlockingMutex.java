package baton.interop;

import baton.PermitTimeoutException;
import baton.interop.internal.blocking.MutexLock;
import baton.sync.Mutex;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Mutex} as a {@link Lock}, for threads that may block: virtual threads above all. Made by {@link
 * AsyncMutex#blocking()}.
 *
 * <pre>{@code
 * Lock lock = mutex.blocking();
 * lock.lock();
 * try {
 *     balance += amount;
 * } finally {
 *     lock.unlock();
 * }
 * }</pre>
 *
 * <p>Or with try-with-resources, here with a time limit:
 *
 * <pre>{@code
 * try (Permit held = mutex.blocking().acquire(Duration.ofMillis(100))) {
 *     balance += amount;
 * }
 * }</pre>
 *
 * <p>It has no state of its own: threads, Java futures, Kotlin coroutines and {@code select} clauses that use the same
 * mutex wait in one queue and are granted strictly in the order of their arrival. A waiting thread parks, so a virtual
 * thread leaves its carrier.
 *
 * <p><i>Owner.</i> The thread that locks is the owner, as {@link AsyncMutex#holder()} shows. It alone can unlock here,
 * but any thread may close the {@link Permit} of {@link #acquire()}.
 * The lock is not reentrant: a second lock by its owner would wait for itself, and throws
 * {@link IllegalStateException} instead.
 *
 * <p><i>Interrupts.</i> An interrupt ends a wait of the interruptible methods; the request is withdrawn, and the caller
 * does not hold the mutex. If the mutex was granted just before, the call returns normally and the thread stays
 * interrupted.
 *
 * <p><i>Callbacks.</i> {@link #unlock()} may run dependents of the future that gets the mutex next before it returns,
 * see {@link AsyncSemaphore}.
 *
 * <p><i>Conditions.</i> Each condition of {@link #newCondition()} has a queue of its own, for threads alone; {@link
 * AsyncCondition#blocking()} shares the queue of futures and coroutines. A signal moves the first waiter to the queue
 * of the mutex. There are no spurious wake-ups. A thread that is interrupted or times out after it was signalled passes
 * the signal on. Every await holds the mutex again when it ends. {@code awaitUntil} reads the wall clock once, when it is
 * called: a jump of that clock during the wait does not count.
 *
 * <p><i>Memory.</i> As {@link Lock} says, with all other ways to lock the same mutex.
 */
public final class BlockingMutex implements Lock {
    private final MutexLock lock;

    BlockingMutex(Mutex mutex) {
        this.lock = new MutexLock(mutex);
    }

    /**
     * Waits for the mutex; an interrupt does not end the wait.
     *
     * @throws IllegalStateException if the current thread holds it already
     */
    @Override
    public void lock() {
        lock.lock();
    }

    /**
     * Waits for the mutex.
     *
     * @throws IllegalStateException if the current thread holds it already
     */
    @Override
    public void lockInterruptibly() throws InterruptedException {
        lock.lockInterruptibly();
    }

    /** Locks the mutex if it is free; false also if the current thread holds it. */
    @Override
    public boolean tryLock() {
        return lock.tryLock();
    }

    /**
     * As {@link #lockInterruptibly()}, but waits {@code time} at most. Returns whether the mutex was locked. With zero
     * or less it does not wait.
     *
     * @throws IllegalStateException if the current thread holds it already
     */
    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return lock.tryLock(time, unit);
    }

    /** @throws IllegalMonitorStateException if the current thread does not hold the mutex */
    @Override
    public void unlock() {
        lock.unlock();
    }

    /**
     * As {@link #lockInterruptibly()}, and returns a permit whose {@code close} unlocks the mutex. The current thread is
     * the owner until then. If {@link #unlock()} has unlocked the mutex before, {@code close} throws {@link
     * IllegalStateException}.
     *
     * @throws IllegalStateException if the current thread holds it already
     */
    public Permit acquire() throws InterruptedException {
        return lock.acquire();
    }

    /**
     * As {@link #acquire()}, but waits {@code timeout} at most. With zero or less it does not wait.
     *
     * @throws PermitTimeoutException if the mutex was not granted in time; it is not held
     * @throws IllegalStateException if the current thread holds it already
     */
    public Permit acquire(Duration timeout) throws InterruptedException, PermitTimeoutException {
        return lock.acquire(timeout);
    }

    /**
     * Runs {@code action} while holding the mutex, and returns its value.
     *
     * @throws IllegalStateException if the current thread holds it already
     * @throws Exception as {@code action}; the mutex is unlocked then
     */
    public <T extends @Nullable Object> T call(Callable<T> action) throws Exception {
        return lock.call(action);
    }

    /**
     * As {@link #call(Callable)}, but waits {@code timeout} at most for the mutex.
     *
     * @throws PermitTimeoutException if the mutex was not granted in time; {@code action} has not run
     */
    public <T extends @Nullable Object> T call(Duration timeout, Callable<T> action) throws Exception {
        return lock.call(timeout, action);
    }

    /** A new condition, on which threads that hold this mutex can wait. */
    @Override
    public Condition newCondition() {
        return lock.newCondition();
    }

    /** As {@link #newCondition()}, with a name for messages and {@code toString}; null for none. */
    public Condition newCondition(@Nullable String name) {
        return lock.newCondition(name);
    }

    /** Whether the current thread holds the mutex. */
    public boolean isHeldByCurrentThread() {
        return lock.isHeldByCurrentThread();
    }

    @Override
    public String toString() {
        return lock.toString();
    }
}
