package baton.interop.locks;

import baton.interop.AsyncReadWriteLock;
import baton.interop.Permit;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** The operations that the three modes of a read-write lock have in common. */
enum ReadWriteWay {
    READ("to read"),
    WRITE("to write"),
    UPGRADABLE("to read upgradably");

    final String purpose;

    ReadWriteWay(String purpose) {
        this.purpose = purpose;
    }

    CompletableFuture<? extends Permit> lock(AsyncReadWriteLock rw) {
        return switch (this) {
            case READ -> rw.lockRead();
            case WRITE -> rw.lockWrite();
            case UPGRADABLE -> rw.lockUpgradable();
        };
    }

    CompletableFuture<? extends Permit> lock(AsyncReadWriteLock rw, Object owner) {
        return switch (this) {
            case READ -> rw.lockRead(owner);
            case WRITE -> rw.lockWrite(owner);
            case UPGRADABLE -> rw.lockUpgradable(owner);
        };
    }

    CompletableFuture<? extends Permit> lock(AsyncReadWriteLock rw, @Nullable Object owner, Executor executor) {
        return switch (this) {
            case READ -> rw.lockRead(owner, executor);
            case WRITE -> rw.lockWrite(owner, executor);
            case UPGRADABLE -> rw.lockUpgradable(owner, executor);
        };
    }

    CompletableFuture<? extends Permit> lock(AsyncReadWriteLock rw, Duration timeout) {
        return switch (this) {
            case READ -> rw.lockRead(timeout);
            case WRITE -> rw.lockWrite(timeout);
            case UPGRADABLE -> rw.lockUpgradable(timeout);
        };
    }

    CompletableFuture<? extends Permit> lock(AsyncReadWriteLock rw, Object owner, Duration timeout) {
        return switch (this) {
            case READ -> rw.lockRead(owner, timeout);
            case WRITE -> rw.lockWrite(owner, timeout);
            case UPGRADABLE -> rw.lockUpgradable(owner, timeout);
        };
    }

    Optional<? extends Permit> tryLock(AsyncReadWriteLock rw) {
        return switch (this) {
            case READ -> rw.tryLockRead();
            case WRITE -> rw.tryLockWrite();
            case UPGRADABLE -> rw.tryLockUpgradable();
        };
    }

    Optional<? extends Permit> tryLock(AsyncReadWriteLock rw, Object owner) {
        return switch (this) {
            case READ -> rw.tryLockRead(owner);
            case WRITE -> rw.tryLockWrite(owner);
            case UPGRADABLE -> rw.tryLockUpgradable(owner);
        };
    }
}
