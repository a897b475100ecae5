package baton.interop.internal.futures;

import baton.bridge.SyncBridge;
import baton.sync.ReadWriteLock;
import org.jspecify.annotations.Nullable;

/** The modes in which a {@link ReadWriteLock} can be held. */
public enum LockMode {
    READ(SyncBridge.READ_WEIGHT, "read lock", "to read"),
    WRITE(SyncBridge.WRITE_WEIGHT, "write lock", "to write"),
    UPGRADABLE(SyncBridge.UPGRADABLE_WEIGHT, "upgradable read lock", "to read upgradably");

    /** The weight of a waiter for this mode. */
    public final int weight;

    final String noun;
    final String purpose;

    LockMode(int weight, String noun, String purpose) {
        this.weight = weight;
        this.noun = noun;
        this.purpose = purpose;
    }

    boolean tryLock(ReadWriteLock lock, @Nullable Object owner) {
        return switch (this) {
            case READ -> lock.tryLockRead(owner);
            case WRITE -> lock.tryLockWrite(owner);
            case UPGRADABLE -> lock.tryLockUpgradable(owner);
        };
    }

    void unlock(ReadWriteLock lock, @Nullable Object owner) {
        switch (this) {
            case READ -> lock.unlockRead(owner);
            case WRITE -> lock.unlockWrite(owner);
            case UPGRADABLE -> lock.unlockUpgradable(owner);
        }
    }
}
