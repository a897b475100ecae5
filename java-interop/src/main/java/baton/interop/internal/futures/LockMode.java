package baton.interop.internal.futures;

import baton.bridge.SyncBridge;
import baton.sync.ReadWriteLock;
import org.jspecify.annotations.Nullable;

/** The modes in which a {@link ReadWriteLock} can be held. */
public enum LockMode {
    READ("read lock", "to read"),
    WRITE("write lock", "to write"),
    UPGRADABLE("upgradable read lock", "to read upgradably");

    public final String noun;
    public final String purpose;

    LockMode(String noun, String purpose) {
        this.noun = noun;
        this.purpose = purpose;
    }

    /** The request of a waiter for this mode. */
    public Object request(@Nullable Object owner) {
        return switch (this) {
            case READ -> SyncBridge.readRequest(owner);
            case WRITE -> SyncBridge.writeRequest(owner);
            case UPGRADABLE -> SyncBridge.upgradableRequest(owner);
        };
    }

    public boolean tryLock(ReadWriteLock lock, @Nullable Object owner) {
        return switch (this) {
            case READ -> lock.tryLockRead(owner);
            case WRITE -> lock.tryLockWrite(owner);
            case UPGRADABLE -> lock.tryLockUpgradable(owner);
        };
    }

    public void unlock(ReadWriteLock lock, @Nullable Object owner) {
        switch (this) {
            case READ -> lock.unlockRead(owner);
            case WRITE -> lock.unlockWrite(owner);
            case UPGRADABLE -> lock.unlockUpgradable(owner);
        }
    }
}
