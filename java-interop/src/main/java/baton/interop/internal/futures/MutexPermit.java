package baton.interop.internal.futures;

import baton.sync.Mutex;
import org.jspecify.annotations.Nullable;

/** The permit of a holder of a mutex. */
public final class MutexPermit extends HeldPermit {
    public final Mutex mutex;
    public final @Nullable Object owner;

    public MutexPermit(Mutex mutex, @Nullable Object owner) {
        this.mutex = mutex;
        this.owner = owner;
    }

    @Override
    public void releaseHeld() {
        mutex.unlock(owner);
    }

    @Override
    String describe() {
        return "lock of " + mutex;
    }
}
