package baton.interop.internal.futures;

import baton.waiting.SignalWaiter;
import baton.waiting.WaitCore;
import baton.waiting.Waiter;
import baton.waiting.coroutine.Timeouts;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import kotlinx.coroutines.DisposableHandle;
import org.jspecify.annotations.Nullable;

/**
 * A future that stands in a primitive's queue.
 *
 * <p>It is completed by whoever wins its {@link Entry}: the core (granted, or failed because closed), the timer, or
 * somebody who cancels or completes it from outside. Whoever does so from outside withdraws the request first, so that
 * those behind it are let in before anybody sees this future completed; whoever comes too late completes it with the
 * grant instead, so that it is done when the call returns.
 *
 * @param <T> what it is completed with
 */
public class WaiterFuture<T extends @Nullable Object> extends RevocableFuture<T> {
    private final Waiter entry;
    private final @Nullable T grant;
    private final @Nullable Executor executor;
    private @Nullable DisposableHandle timer;
    private @Nullable Supplier<String> onTimeout;

    /** @see #enqueue */
    WaiterFuture(WaitCore core, int weight, @Nullable Object tag, @Nullable T grant, @Nullable Executor executor) {
        this.entry = new Entry(core, weight, tag);
        this.grant = grant;
        this.executor = executor;
    }

    private WaiterFuture(WaitCore core, @Nullable Object owner, @Nullable T grant, @Nullable Executor executor) {
        this.entry = new SignalEntry(core, owner);
        this.grant = grant;
        this.executor = executor;
    }

    /**
     * Enqueues.
     *
     * @param grant what the future is completed with; null for what the core says
     * @param executor what completes it when it had to wait; null for the thread that releases
     */
    public static <T extends @Nullable Object> WaiterFuture<T> enqueue(
            WaitCore core, int weight, @Nullable Object tag, @Nullable T grant, @Nullable Executor executor) {
        WaiterFuture<T> future = new WaiterFuture<>(core, weight, tag, grant, executor);
        future.start();
        return future;
    }

    /** As the other, but after {@code millis} it is completed with a {@link TimeoutException} with that message. */
    public static <T extends @Nullable Object> WaiterFuture<T> enqueue(
            WaitCore core,
            int weight,
            @Nullable Object tag,
            @Nullable T grant,
            long millis,
            Supplier<String> onTimeout) {
        WaiterFuture<T> future = new WaiterFuture<>(core, weight, tag, grant, null);
        future.start(millis, onTimeout);
        return future;
    }

    /** Enqueues at a condition, giving up the mutex that {@code owner} holds. */
    public static <T extends @Nullable Object> WaiterFuture<T> awaitSignal(
            WaitCore core, @Nullable Object owner, @Nullable T grant, @Nullable Executor executor) {
        WaiterFuture<T> future = new WaiterFuture<>(core, owner, grant, executor);
        future.start();
        return future;
    }

    /** As the other, but after {@code millis} it is completed with a {@link TimeoutException} with that message. */
    public static <T extends @Nullable Object> WaiterFuture<T> awaitSignal(
            WaitCore core, @Nullable Object owner, @Nullable T grant, long millis, Supplier<String> onTimeout) {
        WaiterFuture<T> future = new WaiterFuture<>(core, owner, grant, null);
        future.start(millis, onTimeout);
        return future;
    }

    final void start(long millis, Supplier<String> message) {
        onTimeout = message;
        // Set before it is enqueued: whoever completes it then sees the timer, and can stop it.
        timer = Timeouts.schedule(millis, this::timeOut);
        start();
    }

    final void start() {
        int state = entry.core.enqueue(entry);
        // Nobody else knows the future yet: its dependents cannot run here.
        if (state != Waiter.WAITING) finish(state);
    }

    /**
     * The core is through with the request; nobody sees this future completed yet, but for those who completed it from
     * outside at the same time. May be called again, by another thread, with the same answer.
     */
    void decided(boolean granted) {
        if (granted && grant instanceof HeldPermit permit) permit.handedOut();
    }

    /** The time is over. */
    private void timeOut() {
        if (entry.withdraw(Waiter.TIMED_OUT) == Waiter.WAITING) finish(Waiter.TIMED_OUT);
    }

    /** Completes it with what was decided. */
    private void finish(int state) {
        DisposableHandle running = timer;
        if (running != null) running.dispose();
        decided(state == Waiter.GRANTED);
        switch (state) {
            case Waiter.GRANTED -> succeed(granted());
            case Waiter.FAILED -> fail(entry.core.failure(entry));
            case Waiter.TIMED_OUT -> {
                Supplier<String> message = onTimeout;
                fail(new TimeoutException(message == null ? null : message.get()));
            }
            default -> fail(new CancellationException());
        }
    }

    @SuppressWarnings("unchecked") // who waits at a core that says what it grants, knows what that is
    private @Nullable T granted() {
        return (T) entry.core.grantOf(entry, grant);
    }

    private void finishFlat(int state) {
        CallbackExecutor.run(executor, () -> finish(state));
    }

    @Override
    public final void withdraw() {
        if (isDone()) return;
        int state = entry.withdraw(Waiter.CANCELLED);
        if (state == Waiter.WAITING) {
            DisposableHandle running = timer;
            if (running != null) running.dispose();
            decided(false);
        } else if (state == Waiter.GRANTED || state == Waiter.FAILED) {
            finish(state);
        }
    }

    private final class Entry extends Waiter {
        Entry(WaitCore core, int weight, @Nullable Object tag) {
            super(core, weight, tag);
        }

        @Override
        protected boolean resume() {
            finishFlat(GRANTED);
            return true;
        }

        @Override
        protected void resumeFailed() {
            finishFlat(FAILED);
        }
    }

    /** An {@link Entry} in the line of a condition. */
    private final class SignalEntry extends SignalWaiter {
        SignalEntry(WaitCore core, @Nullable Object owner) {
            super(core, owner);
        }

        @Override
        protected boolean resume() {
            finishFlat(GRANTED);
            return true;
        }

        @Override
        protected void resumeFailed() {
            finishFlat(FAILED);
        }
    }
}
