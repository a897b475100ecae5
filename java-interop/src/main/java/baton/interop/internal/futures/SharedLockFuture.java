package baton.interop.internal.futures;

import baton.PermitTimeoutException;
import baton.shared.SharedLock;
import baton.shared.SharedMutex;
import baton.shared.bridge.SharedBridge;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import kotlinx.coroutines.DisposableHandle;
import org.jspecify.annotations.Nullable;

/**
 * The future of a request for a shared mutex. It waits in the queue of this process first, and then, at the head of it,
 * for other processes: so an unlock in this process completes the future on its own thread. A lock that comes after this
 * has been withdrawn goes to the next caller.
 */
public final class SharedLockFuture extends SharedFuture<SharedLock> {
    private final SharedMutex mutex;

    /** The place in the queue of this process. */
    private final WaiterFuture<SharedMutex> place;

    private SharedLockFuture(SharedMutex mutex) {
        this.mutex = mutex;
        this.place = new WaiterFuture<>(SharedBridge.of(mutex), 1, null, mutex, null);
    }

    /** Enqueues a request. */
    public static SharedLockFuture enqueue(SharedMutex mutex) {
        SharedLockFuture future = new SharedLockFuture(mutex);
        future.start();
        return future;
    }

    /** As the other, but after the timeout the future fails with a {@link PermitTimeoutException}. */
    public static SharedLockFuture enqueue(SharedMutex mutex, Duration timeout) {
        SharedLockFuture future = new SharedLockFuture(mutex);
        future.start();
        DisposableHandle timer;
        try {
            timer = Timeout.start(future, timeout, () -> future.timeOut(timeout));
        } catch (Throwable e) { // no thread for the timer: no caller gets the future, nor its lock
            future.cancel(false);
            CompletableFuture<?> unused = future.thenAccept(SharedLock::close);
            throw e;
        }
        if (timer != null) {
            CompletableFuture<?> unused = future.whenComplete((lock, failure) -> timer.dispose());
        }
        return future;
    }

    private void start() {
        place.start(null, null);
        CompletableFuture<?> unused = place.whenComplete((granted, failure) -> {
            // A cancelled place was withdrawn, and the withdrawing thread completes this.
            if (granted != null) waitForOthers();
        });
    }

    private void waitForOthers() {
        waitBy(SharedBridge.lockGranted(mutex, this::decided));
    }

    private void timeOut(Duration timeout) {
        if (isDone()) return;
        PermitTimeoutException late = traced(Late.lock(timeout, mutex));
        // A wait for others ends a moment later. A caller that sees this fail must find the queue without it.
        if (withdrawAs(late) && place.isCompletedExceptionally()) failIfLate();
    }

    @Override
    @Nullable
    Executor context() {
        return place.executor();
    }

    @Override
    void discard(@Nullable SharedLock lock) {
        if (lock != null) lock.close();
    }

    @Override
    void stopWaiting() {
        place.cancel(false);
        super.stopWaiting();
    }

    @Override
    protected String call() {
        return "lock of " + SharedBridge.labelOf(mutex);
    }

    @Override
    protected String description() {
        return "lock of " + mutex;
    }

    @Override
    protected <E extends Throwable> E traced(E failure) {
        return place.traced(failure);
    }
}
