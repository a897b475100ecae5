package baton.interop.internal.blocking;

import baton.PermitTimeoutException;
import baton.interop.internal.futures.Timeout;
import baton.waiting.ThreadWaiter;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/** A lock whose owners are threads. A thread that would wait for itself gets an IllegalStateException. */
abstract class ThreadLock implements Lock {
    /** Locks for the current thread if that needs no waiting. */
    abstract boolean lockNow(Thread self);

    /** Unlocks; throws IllegalStateException if the thread does not hold the lock. */
    abstract void unlock(Thread self);

    /** A waiter for the lock, not enqueued yet. */
    abstract ThreadWaiter waiter(Thread self);

    /** The failure of a call that was not granted the lock in time. */
    abstract PermitTimeoutException late(Duration timeout);

    @Override
    public final void lock() {
        Thread self = Thread.currentThread();
        if (!lockNow(self)) waiter(self).awaitUninterruptibly();
    }

    @Override
    public final void lockInterruptibly() throws InterruptedException {
        ThreadWaiter.throwIfInterrupted();
        Thread self = Thread.currentThread();
        if (!lockNow(self)) waiter(self).await();
    }

    @Override
    public final boolean tryLock() {
        try {
            return lockNow(Thread.currentThread());
        } catch (IllegalStateException e) { // It would have to wait for itself, so the lock is not free.
            return false;
        }
    }

    @Override
    public final boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return lockWithin(Objects.requireNonNull(unit, "unit").toNanos(time));
    }

    private boolean lockWithin(long nanos) throws InterruptedException {
        ThreadWaiter.throwIfInterrupted();
        Thread self = Thread.currentThread();
        return lockNow(self) || (nanos > 0 && waiter(self).await(nanos));
    }

    @Override
    public final void unlock() {
        try {
            unlock(Thread.currentThread());
        } catch (IllegalStateException e) {
            throw (IllegalMonitorStateException) new IllegalMonitorStateException(e.getMessage()).initCause(e);
        }
    }

    /** Runs {@code action} while holding the lock, and returns its value. */
    public final <T extends @Nullable Object> T call(Callable<T> action) throws Exception {
        Objects.requireNonNull(action, "action");
        lockInterruptibly();
        return callHolding(action);
    }

    /** As {@link #call(Callable)}, but fails with {@link PermitTimeoutException} if the lock was not granted in time. */
    public final <T extends @Nullable Object> T call(Duration timeout, Callable<T> action) throws Exception {
        Objects.requireNonNull(timeout, "timeout");
        Objects.requireNonNull(action, "action");
        lockInterruptibly(timeout);
        return callHolding(action);
    }

    /** As {@link #lockInterruptibly()}, but fails with {@link PermitTimeoutException} if it was not granted in time. */
    final void lockInterruptibly(Duration timeout) throws InterruptedException, PermitTimeoutException {
        if (!lockWithin(Timeout.nanos(timeout))) throw late(timeout);
    }

    private <T extends @Nullable Object> T callHolding(Callable<T> action) throws Exception {
        try {
            return action.call();
        } finally {
            unlock();
        }
    }
}
