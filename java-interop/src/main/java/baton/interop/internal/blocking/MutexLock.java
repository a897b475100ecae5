package baton.interop.internal.blocking;

import baton.PermitTimeoutException;
import baton.bridge.SyncBridge;
import baton.interop.Permit;
import baton.interop.internal.futures.Late;
import baton.interop.internal.futures.MutexPermit;
import baton.sync.Mutex;
import baton.waiting.ThreadWaiter;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/** A mutex. */
public final class MutexLock extends ThreadLock {
    private final Mutex mutex;

    public MutexLock(Mutex mutex) {
        this.mutex = mutex;
    }

    @Override
    boolean lockNow(Thread self) {
        return mutex.tryLock(self);
    }

    @Override
    void unlock(Thread self) {
        mutex.unlock(self);
    }

    @Override
    ThreadWaiter waiter(Thread self) {
        return new ThreadWaiter(SyncBridge.of(mutex), 1, self, mutex);
    }

    @Override
    PermitTimeoutException late(Duration timeout) {
        return Late.lock(timeout, mutex);
    }

    /** As {@link #lockInterruptibly()}, with a permit that unlocks the mutex. */
    public Permit acquire() throws InterruptedException {
        MutexPermit permit = new MutexPermit(mutex, Thread.currentThread());
        lockInterruptibly();
        return permit.handedOut();
    }

    /** As {@link #acquire()}, but fails with {@link PermitTimeoutException} if it was not granted in time. */
    public Permit acquire(Duration timeout) throws InterruptedException, PermitTimeoutException {
        MutexPermit permit = new MutexPermit(mutex, Thread.currentThread());
        lockInterruptibly(timeout);
        return permit.handedOut();
    }

    public boolean isHeldByCurrentThread() {
        return mutex.getHolder() == Thread.currentThread();
    }

    @Override
    public Condition newCondition() {
        return newCondition(null);
    }

    public Condition newCondition(@Nullable String name) {
        return new MutexCondition(mutex.newCondition(name));
    }

    @Override
    public String toString() {
        return "Blocking" + mutex;
    }
}
