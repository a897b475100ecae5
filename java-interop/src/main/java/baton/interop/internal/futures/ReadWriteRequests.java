package baton.interop.internal.futures;

import baton.bridge.SyncBridge;
import baton.interop.AsyncReadWriteLock;
import baton.interop.Permit;
import baton.sync.ReadWriteLock;
import baton.waiting.WaitCore;
import java.time.Duration;
import java.util.Objects;
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
            LockMode mode, Supplier<? extends CompletionStage<T>> action, @Nullable Executor executor) {
        Objects.requireNonNull(action, "action");
        return WithPermitFuture.run(CallerContext.supplier(action), request(Permit.class, mode, null), executor);
    }

    /** Runs the action while it holds the lock, if that is granted in time. */
    public <T extends @Nullable Object> CompletableFuture<T> runWithin(
            LockMode mode, Supplier<? extends CompletionStage<T>> action, Duration timeout) {
        Objects.requireNonNull(action, "action");
        return WithPermitFuture.run(CallerContext.supplier(action), requestWithin(Permit.class, mode, timeout), null);
    }

    /** Locks; the executor completes a future that had to wait, null means the unlocking thread. */
    public <P extends Permit> CompletableFuture<P> request(Class<P> type, LockMode mode, @Nullable Executor executor) {
        CompletableFuture<P> decided = atOnce(type, mode);
        if (decided != null) return decided;
        P permit = type.cast(new ReadWritePermit(lock, mode, owner));
        return WaiterFuture.enqueue(core, 1, mode.request(owner), permit, executor);
    }

    /** As {@link #request}, within a timeout. */
    public <P extends Permit> CompletableFuture<P> requestWithin(Class<P> type, LockMode mode, Duration timeout) {
        long millis = Timeout.millis(timeout);
        CompletableFuture<P> decided = atOnce(type, mode);
        if (decided != null) return decided;
        Supplier<TimeoutException> late = () -> Late.lock(mode, timeout, lock);
        if (millis == 0) return CompletableFuture.failedFuture(late.get());
        P permit = type.cast(new ReadWritePermit(lock, mode, owner));
        return WaiterFuture.enqueue(core, 1, mode.request(owner), permit, millis, late);
    }

    /** The completed future of a request that need not wait, or null. */
    private <P extends Permit> @Nullable CompletableFuture<P> atOnce(Class<P> type, LockMode mode) {
        try {
            return tryLock(type, mode).map(CompletableFuture::completedFuture).orElse(null);
        } catch (IllegalStateException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Locks if that needs no waiting. */
    public <P extends Permit> Optional<P> tryLock(Class<P> type, LockMode mode) {
        if (!mode.tryLock(lock, owner)) return Optional.empty();
        return Optional.of(handOut(lock, type, mode, owner));
    }
}
