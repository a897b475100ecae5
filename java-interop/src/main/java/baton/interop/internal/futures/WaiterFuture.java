package baton.interop.internal.futures;

import baton.waiting.SignalWaiter;
import baton.waiting.WaitCore;
import baton.waiting.Waiter;
import baton.waiting.flight.FlightEvents;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import kotlinx.coroutines.DisposableHandle;
import org.jspecify.annotations.Nullable;

/**
 * The future of a request in a primitive's queue.
 *
 * <p>The state of its {@link Entry} decides which thread completes it: one that grants or fails the request,
 * the timer, or a thread that cancels or completes the future from outside. The last withdraws the request first, so
 * the waiters behind it are granted before any thread sees this future completed. A thread that is too late completes
 * it with the grant instead, so the future is done when the call returns.
 *
 * @param <T> the type of the grant
 */
public class WaiterFuture<T extends @Nullable Object> extends RevocableFuture<T> {
    private final Waiter entry;
    private final @Nullable T grant;
    private final @Nullable Executor executor;
    private @Nullable DisposableHandle timer;

    /** A {@link WaitTrace} where traces are enabled. It has no field of its own, which every future would pay for. */
    private @Nullable Supplier<TimeoutException> onTimeout = WaitTrace.IS_ENABLED ? new WaitTrace(null) : null;

    WaiterFuture(WaitCore core, int number, @Nullable Object request, @Nullable T grant, @Nullable Executor executor) {
        this.entry = new Entry(core, number, request);
        this.grant = grant;
        this.executor = CallerContext.executor(executor);
    }

    private WaiterFuture(WaitCore core, @Nullable Object owner, @Nullable T grant, @Nullable Executor executor) {
        this.entry = new SignalEntry(core, owner);
        this.grant = grant;
        this.executor = CallerContext.executor(executor);
    }

    /**
     * Enqueues a request.
     *
     * @param grant the value of the future; null for the value that the core returns
     * @param executor completes a future that had to wait; null for the releasing thread
     * @param timeout after which the future fails with what {@code late} returns; null to wait as long as it takes
     */
    public static <T extends @Nullable Object> CompletableFuture<T> enqueue(
            WaitCore core,
            int number,
            @Nullable Object request,
            @Nullable T grant,
            @Nullable Executor executor,
            @Nullable Duration timeout,
            @Nullable Supplier<TimeoutException> late) {
        if (late != null && Timeout.isOver(timeout)) return CompletableFuture.failedFuture(late.get());
        WaiterFuture<T> future = new WaiterFuture<>(core, number, request, grant, executor);
        future.start(timeout, late);
        return future;
    }

    /** A request at a condition, to be started: that releases the mutex, which {@code owner} holds. */
    public static <T extends @Nullable Object> WaiterFuture<T> atCondition(
            WaitCore core, @Nullable Object owner, @Nullable T grant, @Nullable Executor executor) {
        return new WaiterFuture<>(core, owner, grant, executor);
    }

    /**
     * Enqueues the request. If that throws, because there is no thread for the timer, or no stack or memory, and the
     * request is in no queue, {@code undo} runs.
     */
    public final CompletableFuture<T> startOr(
            Runnable undo, @Nullable Duration timeout, @Nullable Supplier<TimeoutException> late) {
        try {
            start(timeout, late);
        } catch (Throwable e) {
            if (entry.getCurrentState() == Waiter.PREPARING) undo.run();
            throw e;
        }
        return this;
    }

    final void start(@Nullable Duration timeout, @Nullable Supplier<TimeoutException> late) {
        if (timeout != null) {
            onTimeout = WaitTrace.IS_ENABLED ? new WaitTrace(late) : late;
            // Set before the request is enqueued, so the completing thread sees the timer and can stop it.
            timer = entry.core.schedule(Timeout.millis(timeout), this::timeOut);
        }
        int state = entry.core.enqueue(entry);
        // No other thread has the future yet, so it has no dependents that would run here.
        if (state != Waiter.WAITING) finish(state);
        else if (FlightEvents.areOn()) recordWait();
    }

    /** An event that finds no stack or memory is left out: the caller must get the future of its request. */
    private void recordWait() {
        try {
            WaitCore core = entry.core;
            var end = FlightEvents.newFutureWait(core.getOwnerLabel(), core.verbOf(entry), nameOf(entry));
            if (end == null) return;
            var unused = super.whenComplete(end);
        } catch (VirtualMachineError | LinkageError e) {
            // There is no event.
        }
    }

    /**
     * The request is decided. No thread sees this future completed yet, unless another one completes it from outside at
     * the same time. May be called again, by another thread, with the same argument.
     */
    void decided(boolean granted) {
        if (granted && grant instanceof HeldPermit permit) permit.handedOut();
    }

    final @Nullable Executor executor() {
        return executor;
    }

    /** Called by the timer. */
    private void timeOut() {
        if (entry.withdraw(Waiter.TIMED_OUT) == Waiter.WAITING) finishOnExecutor(Waiter.TIMED_OUT);
    }

    /** Completes this as the request was decided. */
    private void finish(int state) {
        DisposableHandle running = timer;
        if (running != null) running.dispose();
        decided(state == Waiter.GRANTED);
        switch (state) {
            case Waiter.GRANTED -> succeed(granted(entry));
            case Waiter.FAILED -> failed(traced(entry.core.failure(entry)));
            case Waiter.TIMED_OUT ->
                fail(traced(Objects.requireNonNull(onTimeout, "onTimeout").get()));
            default -> fail(traced(new UntracedCancellationException(call() + " was cancelled")));
        }
    }

    @Override
    protected String call() {
        return entry.core.callOf(entry);
    }

    @Override
    protected String description() {
        return entry.core.verbOf(entry) + " of " + entry.core;
    }

    @Override
    protected final <E extends Throwable> E traced(E failure) {
        if (onTimeout instanceof WaitTrace trace) trace.addTo(failure);
        return failure;
    }

    /** The value of this. May be called again, by another thread. */
    @SuppressWarnings("unchecked") // T is the type of the grants of this core
    @Nullable
    T granted(Waiter granted) {
        return (T) granted.core.grantOf(granted, grant);
    }

    /** Completes this, whose request has failed. */
    void failed(Throwable why) {
        fail(why);
    }

    private void finishOnExecutor(int state) {
        CallbackExecutor.run(executor, () -> finish(state));
    }

    @Override
    protected final void withdraw() {
        if (isDone()) return;
        int state = entry.withdraw(Waiter.CANCELLED);
        if (state == Waiter.WAITING) {
            DisposableHandle running = timer;
            if (running != null) running.dispose();
            decided(false);
        } else if (state == Waiter.GRANTED || state == Waiter.FAILED) {
            CallerContext.runFor(executor, () -> finish(state));
        }
    }

    /** In dumps and reports, which say of which object: {@code "future@1b28cdfa of acquire"}. */
    private String nameOf(Waiter waiter) {
        return "future@" + Integer.toHexString(System.identityHashCode(this)) + " of " + waiter.core.verbOf(waiter);
    }

    private final class Entry extends Waiter {
        Entry(WaitCore core, int number, @Nullable Object request) {
            super(core, number, request);
        }

        @Override
        public String describe() {
            return nameOf(this);
        }

        @Override
        protected boolean resume() {
            finishOnExecutor(GRANTED);
            return true;
        }

        @Override
        protected void resumeFailed() {
            finishOnExecutor(FAILED);
        }
    }

    /** An {@link Entry} in the queue of a condition. */
    private final class SignalEntry extends SignalWaiter {
        SignalEntry(WaitCore core, @Nullable Object owner) {
            super(core, owner);
        }

        @Override
        public String describe() {
            return nameOf(this);
        }

        @Override
        protected boolean resume() {
            finishOnExecutor(GRANTED);
            return true;
        }

        @Override
        protected void resumeFailed() {
            finishOnExecutor(FAILED);
        }
    }
}
