package baton.interop.internal.select;

import baton.Priority;
import baton.bridge.ChannelBridge;
import baton.bridge.SyncBridge;
import baton.channels.Channel;
import baton.interop.Permit;
import baton.interop.Select;
import baton.interop.internal.futures.LockMode;
import baton.interop.internal.futures.MutexPermit;
import baton.interop.internal.futures.ReadWriteRequests;
import baton.interop.internal.futures.SemaphorePermit;
import baton.sync.Barrier;
import baton.sync.Latch;
import baton.sync.Mutex;
import baton.sync.ReadWriteLock;
import baton.sync.Semaphore;
import baton.sync.WaitGroup;
import baton.waiting.ClauseWaiter;
import baton.waiting.WaitCore;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The clauses of a {@link Select}, one for each kind of request. */
public final class Clauses {
    private Clauses() {}

    public static <T extends @Nullable Object, R extends @Nullable Object> Clause<R> receive(
            Channel<T> channel, Function<? super T, ? extends R> then) {
        return new CoreClause.OfValue<>(
                ChannelBridge.of(channel), 0, ChannelBridge.RECEIVE, winner -> received(channel, winner), then);
    }

    @SuppressWarnings("unchecked") // the channel takes elements of T only
    private static <T extends @Nullable Object> T received(Channel<T> channel, ClauseWaiter winner) {
        return (T) ChannelBridge.of(channel).grantOf(winner, null);
    }

    /**
     * Sends an element. The waiter carries it to a receiver; granted a place instead, the clause sends when it has won.
     */
    public static <T extends @Nullable Object, R extends @Nullable Object> Clause<R> send(
            Channel<T> channel, T element, @Nullable Priority priority, Supplier<? extends R> then) {
        Object wrapped = ChannelBridge.wrap(element);
        int level = ChannelBridge.levelOf(channel, priority);
        Function<ClauseWaiter, @Nullable Void> send = winner -> {
            ChannelBridge.sendIfNotSent(channel, winner);
            return null;
        };
        return new CoreClause.OfValue<>(ChannelBridge.of(channel), level, wrapped, send, nothing -> then.get());
    }

    public static <R extends @Nullable Object> Clause<R> acquire(
            Semaphore semaphore, int permits, @Nullable Priority priority, Function<? super Permit, ? extends R> then) {
        SyncBridge.checkPermits(semaphore, permits);
        return new CoreClause.OfPermit<>(
                SyncBridge.of(semaphore),
                permits,
                priority,
                () -> new SemaphorePermit(semaphore, permits).handedOut(),
                then);
    }

    public static <R extends @Nullable Object> Clause<R> lock(
            Mutex mutex, @Nullable Object owner, Function<? super Permit, ? extends R> then) {
        return new CoreClause.OfPermit<>(
                SyncBridge.of(mutex), 1, owner, () -> new MutexPermit(mutex, owner).handedOut(), then);
    }

    public static <P extends Permit, R extends @Nullable Object> Clause<R> lock(
            ReadWriteLock lock,
            Class<P> type,
            LockMode mode,
            @Nullable Object owner,
            Function<? super P, ? extends R> then) {
        return new CoreClause.OfPermit<>(
                SyncBridge.of(lock),
                1,
                mode.request(owner),
                () -> ReadWriteRequests.handOut(lock, type, mode, owner),
                then);
    }

    public static <R extends @Nullable Object> Clause<R> await(Latch latch, Supplier<? extends R> then) {
        return await(SyncBridge.of(latch), then);
    }

    public static <R extends @Nullable Object> Clause<R> await(WaitGroup group, Supplier<? extends R> then) {
        return await(SyncBridge.of(group), then);
    }

    private static <R extends @Nullable Object> Clause<R> await(WaitCore core, Supplier<? extends R> then) {
        return new CoreClause.OfValue<>(core, 1, null, winner -> null, nothing -> then.get());
    }

    public static <R extends @Nullable Object> Clause<R> arrive(
            Barrier barrier, Function<? super Integer, ? extends R> then) {
        return new CoreClause.OfBarrier<>(barrier, then);
    }

    public static <T extends @Nullable Object, R extends @Nullable Object> Clause<R> stage(
            CompletionStage<? extends T> stage, Function<? super T, ? extends R> then) {
        return new StageClause<>(stage, then);
    }

    public static <R extends @Nullable Object> Clause<R> timeout(long millis, Supplier<? extends R> then) {
        return new TimeClause<>(millis, then);
    }
}
