package baton.interop.internal.futures;

import baton.bridge.SyncBridge;
import baton.interop.UpgradablePermit;
import baton.interop.WritePermit;
import baton.sync.ReadWriteLock;
import baton.waiting.Symbol;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The permit of a holder of a read-write lock.
 *
 * <pre>
 *               upgrade              granted               downgrade
 *  UPGRADABLE ───────────▶ Upgrade ──────────▶ WRITE ───────────────────▶ CHANGING ──▶ READ
 *    │    ▲                 │   │                ▲
 *    │    └─────────────────┘   │ close          │           close: from READ, WRITE, UPGRADABLE and CHANGING
 *    │       withdrawn          ▼                │                  ──▶ RETURNED
 *    │                       Orphan ──▶ RETURNED │
 *    └─────────────▶ CHANGING ───────────────────┘
 *       tryUpgrade
 * </pre>
 *
 * Every arrow is one compare-and-set. A {@link LockMode} says what close has to unlock. During an Upgrade and in
 * CHANGING only the core knows that: a closing thread then leaves the unlocking to the thread that ends the state, see
 * {@link #endChange} and {@link Upgrade#decided}.
 *
 * <p>If two threads end an Upgrade at once, its timer and a canceller, the later one may complete the future before the
 * other has ended the state. For that moment another upgrade is refused.
 */
final class ReadWritePermit extends HeldPermit implements UpgradablePermit, WritePermit {
    private static final VarHandle STATE = FieldHandle.of(MethodHandles.lookup(), "state", Object.class);

    /** A thread is changing, at the core, the mode in which the lock is held; the change does not wait. */
    private static final Object CHANGING = new Symbol("CHANGING");

    private static final Object RETURNED = new Symbol("RETURNED");

    private final ReadWriteLock lock;
    private final @Nullable Object owner;
    private volatile Object state;

    ReadWritePermit(ReadWriteLock lock, LockMode mode, @Nullable Object owner) {
        this.lock = lock;
        this.state = mode;
        this.owner = owner;
    }

    private boolean move(Object from, Object to) {
        return STATE.compareAndSet(this, from, to);
    }

    @Override
    public CompletableFuture<WritePermit> upgrade() {
        return startUpgrade(null, null);
    }

    @Override
    public CompletableFuture<WritePermit> upgrade(Executor executor) {
        return startUpgrade(Objects.requireNonNull(executor, "executor"), null);
    }

    @Override
    public CompletableFuture<WritePermit> upgrade(Duration timeout) {
        return startUpgrade(null, Objects.requireNonNull(timeout, "timeout"));
    }

    private CompletableFuture<WritePermit> startUpgrade(@Nullable Executor executor, @Nullable Duration timeout) {
        Supplier<TimeoutException> late = timeout == null ? null : () -> Late.upgrade(timeout, lock);
        if (late != null && Timeout.isOver(timeout)) return upgradeNow(late);
        Upgrade upgrade = new Upgrade(executor);
        if (!move(LockMode.UPGRADABLE, upgrade)) return CompletableFuture.failedFuture(notUpgradable());
        return upgrade.startOr(() -> upgrade.decided(false), timeout, late);
    }

    private CompletableFuture<WritePermit> upgradeNow(Supplier<TimeoutException> late) {
        try {
            if (tryUpgrade().isPresent()) return CompletableFuture.completedFuture(this);
        } catch (IllegalStateException e) {
            return CompletableFuture.failedFuture(e);
        }
        return CompletableFuture.failedFuture(late.get());
    }

    @Override
    public Optional<WritePermit> tryUpgrade() {
        if (!move(LockMode.UPGRADABLE, CHANGING)) throw notUpgradable();
        LockMode now = LockMode.UPGRADABLE;
        try {
            if (lock.tryUpgrade(owner)) now = LockMode.WRITE;
        } finally {
            endChange(now);
        }
        return now == LockMode.WRITE ? Optional.of(this) : Optional.empty();
    }

    @Override
    public void downgrade() {
        if (!move(LockMode.WRITE, CHANGING))
            throw new IllegalStateException("downgrade of a permit that does not hold the write lock (" + this + ")");
        LockMode now = LockMode.WRITE;
        try {
            lock.downgrade(owner);
            now = LockMode.READ;
        } finally {
            endChange(now);
        }
    }

    /** The lock is held in this mode from now on. If the permit was closed meanwhile, unlocks it. */
    private void endChange(LockMode now) {
        if (!move(CHANGING, now)) now.unlock(lock, owner);
    }

    @Override
    void releaseHeld() {
        while (true) {
            Object seen = state;
            if (seen instanceof Upgrade upgrade) {
                if (!move(upgrade, new Orphan(upgrade))) continue;
                upgrade.cancel(false);
                return;
            }
            if (!move(seen, RETURNED)) continue;
            if (seen instanceof LockMode mode) mode.unlock(lock, owner);
            return;
        }
    }

    private IllegalStateException notUpgradable() {
        return new IllegalStateException(
                state instanceof Upgrade
                        ? "upgrade during another, of " + this
                        : "upgrade of a permit that does not hold the upgradable read (" + this + ")");
    }

    @Override
    String describe() {
        Object seen = state;
        String noun =
                seen instanceof LockMode mode ? mode.noun : seen instanceof Upgrade ? LockMode.UPGRADABLE.noun : "lock";
        return noun + " of " + lock;
    }

    /** An upgrade during which the permit was closed. */
    private record Orphan(Upgrade upgrade) {}

    /** An upgrade that waits. */
    private final class Upgrade extends WaiterFuture<WritePermit> {
        Upgrade(@Nullable Executor executor) {
            super(SyncBridge.of(lock), 1, SyncBridge.upgradeRequest(owner), ReadWritePermit.this, executor);
        }

        @Override
        void decided(boolean granted) {
            LockMode now = granted ? LockMode.WRITE : LockMode.UPGRADABLE;
            if (move(this, now)) return;
            if (!(state instanceof Orphan orphan) || orphan.upgrade != this || !move(orphan, RETURNED)) return;
            try {
                now.unlock(lock, owner);
            } catch (IllegalStateException misuse) {
                // Other code has unlocked the lock, bypassing the permit. The exception cannot reach the closing
                // thread, and this thread must go on.
            }
        }
    }
}
