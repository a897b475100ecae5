package baton.interop.internal.futures;

import baton.bridge.SyncBridge;
import baton.interop.AsyncReadWriteLock;
import baton.interop.Permit;
import baton.sync.ReadWriteLock;
import baton.waiting.WaitCore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The requests behind the overloads of {@link AsyncReadWriteLock}, for any {@link LockMode}, with an owner or none. */
public final class ReadWriteRequests {
    private final ReadWriteLock lock;
    private final WaitCore core;
    public final @Nullable Object owner;

    public ReadWriteRequests(ReadWriteLock lock, @Nullable Object owner) {
        this.lock = lock;
        this.core = SyncBridge.of(lock);
        this.owner = owner;
    }

    /** A permit for a lock that was just locked in that mode. */
    public static <P extends Permit> P handOut(
            ReadWriteLock lock, Class<P> type, LockMode mode, @Nullable Object owner) {
        return type.cast(new ReadWritePermit(lock, mode, owner).handedOut());
    }

    /** Runs the action while it holds the lock, on the executor if there is one. */
    public <T extends @Nullable Object> CompletableFuture<T> run(
            LockMode mode,
            Supplier<? extends CompletionStage<T>> action,
            @Nullable Executor executor,
            @Nullable Duration timeout) {
        return WithPermitFuture.run(
                CallerContext.supplier(action), request(Permit.class, mode, null, timeout), executor);
    }

    /** Locks; the executor completes a future that had to wait, null means the unlocking thread. */
    public <P extends Permit> CompletableFuture<P> request(
            Class<P> type, LockMode mode, @Nullable Executor executor, @Nullable Duration timeout) {
        try {
            if (mode.tryLock(lock, owner)) return CompletableFuture.completedFuture(handOut(lock, type, mode, owner));
        } catch (IllegalStateException e) {
            return CompletableFuture.failedFuture(e);
        }
        P grant = type.cast(new ReadWritePermit(lock, mode, owner));
        Supplier<TimeoutException> late = timeout == null ? null : () -> Late.lock(mode, timeout, lock);
        return WaiterFuture.enqueue(core, 1, mode.request(owner), grant, executor, timeout, late);
    }

    /** Locks if that needs no waiting. */
    public <P extends Permit> Optional<P> tryLock(Class<P> type, LockMode mode) {
        if (!mode.tryLock(lock, owner)) return Optional.empty();
        return Optional.of(handOut(lock, type, mode, owner));
    }
}
