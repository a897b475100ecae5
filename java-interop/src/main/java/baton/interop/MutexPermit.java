package baton.interop;

import baton.sync.Mutex;
import org.jspecify.annotations.Nullable;

/** The lock of a mutex. */
final class MutexPermit extends HeldPermit {
    final Mutex mutex;
    final @Nullable Object owner;

    MutexPermit(Mutex mutex, @Nullable Object owner) {
        this.mutex = mutex;
        this.owner = owner;
    }

    @Override
    void giveBack() {
        mutex.unlock(owner);
    }

    @Override
    String describe() {
        return "lock of " + mutex;
    }
}
