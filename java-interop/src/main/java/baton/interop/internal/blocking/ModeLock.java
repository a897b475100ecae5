package baton.interop.internal.blocking;

import baton.PermitTimeoutException;
import baton.bridge.SyncBridge;
import baton.interop.internal.futures.Late;
import baton.interop.internal.futures.LockMode;
import baton.sync.ReadWriteLock;
import baton.waiting.ThreadWaiter;
import java.time.Duration;
import java.util.concurrent.locks.Condition;

/** A read-write lock in one of its modes. */
public final class ModeLock extends ThreadLock {
    private final ReadWriteLock lock;
    private final LockMode mode;

    public ModeLock(ReadWriteLock lock, LockMode mode) {
        this.lock = lock;
        this.mode = mode;
    }

    @Override
    boolean lockNow(Thread self) {
        return mode.tryLock(lock, self);
    }

    @Override
    void unlock(Thread self) {
        mode.unlock(lock, self);
    }

    @Override
    ThreadWaiter waiter(Thread self) {
        return new ThreadWaiter(SyncBridge.of(lock), 1, mode.request(self), lock);
    }

    @Override
    PermitTimeoutException late(Duration timeout) {
        return Late.lock(mode, timeout, lock);
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
