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

/** What {@link AsyncReadWriteLock} offers for each {@link LockMode}, said once. */
public final class ReadWriteRequests {
    private final ReadWriteLock lock;
    private final WaitCore core;

    public ReadWriteRequests(ReadWriteLock lock) {
        this.lock = lock;
        this.core = SyncBridge.of(lock);
    }

    private <P extends Permit> P handOut(Class<P> type, LockMode mode, @Nullable Object owner) {
        return handOut(lock, type, mode, owner);
    }

    /** A permit of a lock that was locked in that mode. */
    public static <P extends Permit> P handOut(
            ReadWriteLock lock, Class<P> type, LockMode mode, @Nullable Object owner) {
        return type.cast(new ReadWritePermit(lock, mode, owner).handedOut());
    }

    public <T extends @Nullable Object> CompletableFuture<T> run(
            LockMode mode,
            @Nullable Object owner,
            Supplier<? extends CompletionStage<T>> action,
            @Nullable Executor executor) {
        Objects.requireNonNull(action, "action");
        return WithPermitFuture.run(request(Permit.class, mode, owner, null), action, executor);
    }

    public <P extends Permit> CompletableFuture<P> request(
            Class<P> type, LockMode mode, @Nullable Object owner, @Nullable Executor executor) {
        CompletableFuture<P> decided = atOnce(type, mode, owner);
        if (decided != null) return decided;
        P permit = type.cast(new ReadWritePermit(lock, mode, owner));
        return WaiterFuture.enqueue(core, mode.weight, owner, permit, executor);
    }

    public <P extends Permit> CompletableFuture<P> requestWithin(
            Class<P> type, LockMode mode, @Nullable Object owner, Duration timeout) {
        long millis = Timeout.millis(timeout);
        CompletableFuture<P> decided = atOnce(type, mode, owner);
        if (decided != null) return decided;
        Supplier<String> message = () -> "not locked " + mode.purpose + " within " + timeout + ": " + lock;
        if (millis == 0) return CompletableFuture.failedFuture(new TimeoutException(message.get()));
        P permit = type.cast(new ReadWritePermit(lock, mode, owner));
        return WaiterFuture.enqueue(core, mode.weight, owner, permit, millis, message);
    }

    /** What needs no waiting, or null. */
    private <P extends Permit> @Nullable CompletableFuture<P> atOnce(
            Class<P> type, LockMode mode, @Nullable Object owner) {
        try {
            return tryLock(type, mode, owner)
                    .map(CompletableFuture::completedFuture)
                    .orElse(null);
        } catch (IllegalStateException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    public <P extends Permit> Optional<P> tryLock(Class<P> type, LockMode mode, @Nullable Object owner) {
        if (!mode.tryLock(lock, owner)) return Optional.empty();
        return Optional.of(handOut(type, mode, owner));
    }
}
