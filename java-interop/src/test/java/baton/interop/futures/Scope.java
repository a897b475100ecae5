package baton.interop.futures;

import baton.interop.AsyncMutex;
import baton.interop.AsyncReadWriteLock;
import baton.interop.AsyncSemaphore;
import baton.interop.Permit;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The methods that run an action while they hold a permit or a lock. */
enum Scope {
    WITH_PERMIT(() -> {
        AsyncSemaphore s = AsyncSemaphore.create(1);
        return new Guard(
                        s::waiting,
                        () -> s.availablePermits() == 0,
                        s::acquire,
                        () -> s.kotlin().release(1))
                .with(s::withPermit, s::withPermit);
    }),
    WITH_PERMITS(() -> {
        AsyncSemaphore s = AsyncSemaphore.create(3);
        return new Guard(
                        s::waiting,
                        () -> s.availablePermits() < 2,
                        () -> s.acquire(2),
                        () -> s.kotlin().release(2))
                .with(action -> s.withPermits(2, action), (action, e) -> s.withPermits(2, action, e));
    }),
    WITH_LOCK(() -> {
        AsyncMutex mutex = AsyncMutex.create();
        return new Guard(
                        mutex::waiting,
                        mutex::isLocked,
                        mutex::lock,
                        () -> mutex.kotlin().unlock(null))
                .with(mutex::withLock, mutex::withLock);
    }),
    WITH_LOCK_BY_AN_OWNER(() -> {
        AsyncMutex mutex = AsyncMutex.create();
        return new Guard(
                        mutex::waiting,
                        mutex::isLocked,
                        mutex::lock,
                        () -> mutex.kotlin().unlock("me"))
                .with(
                        action -> mutex.ownedBy("me").withLock(action),
                        (action, e) -> mutex.ownedBy("me").withLock(action, e))
                .owner(() -> mutex.holder().isPresent());
    }),
    WITH_READ(() -> {
        AsyncReadWriteLock rw = AsyncReadWriteLock.create();
        return new Guard(
                        rw::waiting,
                        () -> isHeld(rw),
                        rw::lockWrite,
                        () -> rw.kotlin().unlockRead(null))
                .with(rw::withRead, rw::withRead);
    }),
    WITH_READ_BY_AN_OWNER(() -> {
        AsyncReadWriteLock rw = AsyncReadWriteLock.create();
        return new Guard(
                        rw::waiting,
                        () -> isHeld(rw),
                        rw::lockWrite,
                        () -> rw.kotlin().unlockRead("me"))
                .with(
                        action -> rw.ownedBy("me").withRead(action),
                        (action, e) -> rw.ownedBy("me").withRead(action, e))
                .owner(() -> rw.readHolders().contains("me"));
    }),
    WITH_WRITE(() -> {
        AsyncReadWriteLock rw = AsyncReadWriteLock.create();
        return new Guard(
                        rw::waiting,
                        () -> isHeld(rw),
                        rw::lockRead,
                        () -> rw.kotlin().unlockWrite(null))
                .with(rw::withWrite, rw::withWrite);
    }),
    WITH_WRITE_BY_AN_OWNER(() -> {
        AsyncReadWriteLock rw = AsyncReadWriteLock.create();
        return new Guard(
                        rw::waiting,
                        () -> isHeld(rw),
                        rw::lockRead,
                        () -> rw.kotlin().unlockWrite("me"))
                .with(
                        action -> rw.ownedBy("me").withWrite(action),
                        (action, e) -> rw.ownedBy("me").withWrite(action, e))
                .owner(() -> rw.writeHolder().isPresent());
    });

    private final Supplier<Guard> make;

    Scope(Supplier<Guard> make) {
        this.make = make;
    }

    Guard create() {
        return make.get();
    }

    private static boolean isHeld(AsyncReadWriteLock rw) {
        return rw.readers() > 0 || rw.isWriteLocked();
    }

    interface With {
        CompletableFuture<Object> call(Supplier<CompletionStage<Object>> action);
    }

    interface WithOn {
        CompletableFuture<Object> call(Supplier<CompletionStage<Object>> action, Executor executor);
    }

    /** A primitive, with the calls that the tests need. */
    static final class Guard {
        private final IntSupplier waiting;
        private final BooleanSupplier isHeld;
        private final Supplier<CompletableFuture<? extends Permit>> other;
        final Runnable releaseByOtherCode;
        private With with;
        private WithOn withOn;
        BooleanSupplier isOwned = () -> true;

        Guard(
                IntSupplier waiting,
                BooleanSupplier isHeld,
                Supplier<CompletableFuture<? extends Permit>> other,
                Runnable releaseByOtherCode) {
            this.waiting = waiting;
            this.isHeld = isHeld;
            this.other = other;
            this.releaseByOtherCode = releaseByOtherCode;
        }

        Guard with(With call, WithOn callOn) {
            with = call;
            withOn = callOn;
            return this;
        }

        Guard owner(BooleanSupplier check) {
            isOwned = check;
            return this;
        }

        CompletableFuture<Object> with(Supplier<CompletionStage<Object>> action, @Nullable Executor executor) {
            return executor == null ? with.call(action) : withOn.call(action, executor);
        }

        CompletableFuture<Object> with(Supplier<CompletionStage<Object>> action) {
            return with.call(action);
        }

        int waiting() {
            return waiting.getAsInt();
        }

        boolean isHeld() {
            return isHeld.getAsBoolean();
        }

        /** A request for which the action must wait, or that must wait for the action. */
        CompletableFuture<? extends Permit> other() {
            return other.get();
        }
    }
}
