package baton.interop.internal.blocking;

import baton.bridge.SyncBridge;
import baton.interop.internal.futures.LockMode;
import baton.interop.internal.futures.Timeout;
import baton.sync.ReadWriteLock;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/** A read-write lock in one of its modes, as a lock whose owners are threads. */
public final class ModeLock implements Lock {
    private final ReadWriteLock lock;
    private final LockMode mode;

    public ModeLock(ReadWriteLock lock, LockMode mode) {
        this.lock = lock;
        this.mode = mode;
    }

    @Override
    public void lock() {
        Thread self = Thread.currentThread();
        if (!mode.tryLock(lock, self)) waiter(self).awaitUninterruptibly();
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        if (Thread.interrupted()) throw new InterruptedException();
        Thread self = Thread.currentThread();
        if (!mode.tryLock(lock, self)) waiter(self).await();
    }

    @Override
    public boolean tryLock() {
        try {
            return mode.tryLock(lock, Thread.currentThread());
        } catch (IllegalStateException e) { // It would have to wait for itself, so the lock is not free.
            return false;
        }
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        long nanos = Objects.requireNonNull(unit, "unit").toNanos(time);
        if (Thread.interrupted()) throw new InterruptedException();
        return lockWithin(nanos);
    }

    private boolean lockWithin(long nanos) throws InterruptedException {
        Thread self = Thread.currentThread();
        return mode.tryLock(lock, self) || (nanos > 0 && waiter(self).await(nanos));
    }

    private ThreadWaiter waiter(Thread self) {
        return new ThreadWaiter(SyncBridge.of(lock), 1, mode.request(self), lock);
    }

    @Override
    public void unlock() {
        try {
            mode.unlock(lock, Thread.currentThread());
        } catch (IllegalStateException e) {
            throw (IllegalMonitorStateException) new IllegalMonitorStateException(e.getMessage()).initCause(e);
        }
    }

    /** Runs {@code action} while holding the lock, and returns its value. */
    public <T extends @Nullable Object> T call(Callable<T> action) throws Exception {
        Objects.requireNonNull(action, "action");
        lockInterruptibly();
        return callHolding(action);
    }

    /** As {@link #call(Callable)}, but fails with {@link TimeoutException} if the lock was not granted in time. */
    public <T extends @Nullable Object> T call(Duration timeout, Callable<T> action) throws Exception {
        long nanos = Timeout.nanos(timeout);
        Objects.requireNonNull(action, "action");
        if (Thread.interrupted()) throw new InterruptedException();
        if (!lockWithin(nanos)) {
            throw new TimeoutException("not locked " + mode.purpose + " within " + timeout + ": " + lock);
        }
        return callHolding(action);
    }

    private <T extends @Nullable Object> T callHolding(Callable<T> action) throws Exception {
        try {
            return action.call();
        } finally {
            unlock();
        }
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("a read-write lock has no conditions; a mutex has");
    }

    @Override
    public String toString() {
        return mode.noun + " of Blocking" + lock;
    }
}
