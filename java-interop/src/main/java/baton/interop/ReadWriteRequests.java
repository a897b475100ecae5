package baton.interop;

import baton.sync.ReadWriteLock;
import baton.waiting.WaitCore;
import baton.waiting.SyncBridge;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What {@link AsyncReadWriteLock} offers for each {@link Access}, said once. */
final class ReadWriteRequests {
    private final ReadWriteLock lock;
    private final WaitCore core;

    ReadWriteRequests(ReadWriteLock lock) {
        this.lock = lock;
        this.core = SyncBridge.of(lock);
    }

    /** A clause of a select. */
    <P extends Permit, R extends @Nullable Object> Clause<R> on(
            Class<P> type, Access access, Function<? super P, ? extends R> then) {
        return new CoreClause.OfPermit<>(core, access.weight, null, () -> handOut(type, access, null), then);
    }

    private <P extends Permit> P handOut(Class<P> type, Access access, @Nullable Object owner) {
        return type.cast(new ReadWritePermit(lock, access, owner).handedOut());
    }

    <T extends @Nullable Object> CompletableFuture<T> run(
            Access access,
            @Nullable Object owner,
            Supplier<? extends CompletionStage<T>> action,
            @Nullable Executor executor) {
        Objects.requireNonNull(action, "action");
        return WithPermitFuture.run(request(Permit.class, access, owner, null), action, executor);
    }

    <P extends Permit> CompletableFuture<P> request(
            Class<P> type, Access access, @Nullable Object owner, @Nullable Executor executor) {
        CompletableFuture<P> decided = atOnce(type, access, owner);
        if (decided != null) return decided;
        P permit = type.cast(new ReadWritePermit(lock, access, owner));
        return WaiterFuture.enqueue(core, access.weight, owner, permit, executor);
    }

    <P extends Permit> CompletableFuture<P> requestWithin(
            Class<P> type, Access access, @Nullable Object owner, Duration timeout) {
        long millis = Timeout.millis(timeout);
        CompletableFuture<P> decided = atOnce(type, access, owner);
        if (decided != null) return decided;
        Supplier<String> message = () -> "not locked " + access.purpose + " within " + timeout + ": " + lock;
        if (millis == 0) return CompletableFuture.failedFuture(new TimeoutException(message.get()));
        P permit = type.cast(new ReadWritePermit(lock, access, owner));
        return WaiterFuture.enqueue(core, access.weight, owner, permit, millis, message);
    }

    /** What needs no waiting, or null. */
    private <P extends Permit> @Nullable CompletableFuture<P> atOnce(
            Class<P> type, Access access, @Nullable Object owner) {
        try {
            return tryLock(type, access, owner)
                    .map(CompletableFuture::completedFuture)
                    .orElse(null);
        } catch (IllegalStateException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    <P extends Permit> Optional<P> tryLock(Class<P> type, Access access, @Nullable Object owner) {
        if (!access.tryLock(lock, owner)) return Optional.empty();
        return Optional.of(handOut(type, access, owner));
    }
}
