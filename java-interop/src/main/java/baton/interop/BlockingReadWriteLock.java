package baton.interop;

import baton.PermitTimeoutException;
import baton.interop.internal.blocking.ModeLock;
import baton.interop.internal.futures.LockMode;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import org.jspecify.annotations.Nullable;

/**
 * A {@link baton.sync.ReadWriteLock} as a {@link ReadWriteLock} of {@code java.util.concurrent}, for threads that may
 * block: virtual threads above all. Made by {@link AsyncReadWriteLock#blocking()}.
 *
 * <pre>{@code
 * BlockingReadWriteLock rw = AsyncReadWriteLock.create().blocking();
 * String value = rw.read(() -> map.get(key));
 * }</pre>
 *
 * <p>It has no state of its own: threads, Java futures and Kotlin coroutines that use the same lock wait in one queue,
 * by its policy. A waiting thread parks, so a virtual thread leaves its carrier.
 *
 * <p><i>Owner.</i> The thread that locks is the owner. It alone can unlock here. A writer that locks in either mode, a
 * reader that locks to write, and a reader that locks to read again behind a writer that waits for it, throw {@link
 * IllegalStateException}, because they would wait for themselves; {@code tryLock()} returns false instead.
 *
 * <p><i>Interrupts, memory.</i> As for {@link BlockingMutex}. There are no conditions: {@code newCondition} throws
 * {@link UnsupportedOperationException}.
 */
public final class BlockingReadWriteLock implements ReadWriteLock {
    private final baton.sync.ReadWriteLock lock;
    private final ModeLock readLock;
    private final ModeLock writeLock;

    BlockingReadWriteLock(baton.sync.ReadWriteLock lock) {
        this.lock = lock;
        this.readLock = new ModeLock(lock, LockMode.READ);
        this.writeLock = new ModeLock(lock, LockMode.WRITE);
    }

    @Override
    public Lock readLock() {
        return readLock;
    }

    @Override
    public Lock writeLock() {
        return writeLock;
    }

    /**
     * Runs {@code action} while holding the read lock, and returns its value.
     *
     * @throws IllegalStateException if the thread would wait for itself
     * @throws Exception as {@code action}; the lock is released then
     */
    public <T extends @Nullable Object> T read(Callable<T> action) throws Exception {
        return readLock.call(action);
    }

    /**
     * As {@link #read(Callable)}, but waits {@code timeout} at most for the lock.
     *
     * @throws PermitTimeoutException if the lock was not granted in time; {@code action} has not run
     */
    public <T extends @Nullable Object> T read(Duration timeout, Callable<T> action) throws Exception {
        return readLock.call(timeout, action);
    }

    /**
     * Runs {@code action} while holding the write lock, and returns its value.
     *
     * @throws IllegalStateException if the thread would wait for itself
     * @throws Exception as {@code action}; the lock is released then
     */
    public <T extends @Nullable Object> T write(Callable<T> action) throws Exception {
        return writeLock.call(action);
    }

    /**
     * As {@link #write(Callable)}, but waits {@code timeout} at most for the lock.
     *
     * @throws PermitTimeoutException if the lock was not granted in time; {@code action} has not run
     */
    public <T extends @Nullable Object> T write(Duration timeout, Callable<T> action) throws Exception {
        return writeLock.call(timeout, action);
    }

    @Override
    public String toString() {
        return "Blocking" + lock;
    }
}
