package baton.interop.internal.futures;

import baton.bridge.SharedBridge;
import baton.shared.SharedLock;
import baton.shared.SharedMutex;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import kotlinx.coroutines.DisposableHandle;
import kotlinx.coroutines.Job;
import org.jspecify.annotations.Nullable;

/**
 * The future of a request for a shared mutex. It waits in the queue of this process first, and then, at the head of it,
 * for other processes: so an unlock in this process completes the future on its own thread. A lock that comes after this
 * has been completed from outside goes to the next caller.
 */
public final class SharedLockFuture extends SharedFuture<SharedLock> {
    private final SharedMutex mutex;

    /** The place in the queue of this process. */
    private final WaiterFuture<SharedMutex> place;

    /** The failure of this after its timeout, once the wait for other processes has ended; null before the timeout. */
    private volatile @Nullable TimeoutException late;

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

    /** As the other, but after the timeout the future fails with a {@link TimeoutException}. */
    public static SharedLockFuture enqueue(SharedMutex mutex, Duration timeout) {
        SharedLockFuture future = new SharedLockFuture(mutex);
        future.start();
        DisposableHandle timer = Timeout.start(future, timeout, () -> future.timeOut(timeout));
        if (timer != null) {
            CompletableFuture<?> unused = future.whenComplete((lock, failure) -> timer.dispose());
        }
        return future;
    }

    private void start() {
        place.start();
        CompletableFuture<?> unused = place.whenComplete((granted, failure) -> {
            // A cancelled place was withdrawn, and the withdrawing thread completes this.
            if (granted != null) waitForOthers();
        });
    }

    private void waitForOthers() {
        Job job = SharedBridge.lockGranted(mutex, this::decided);
        running = job; // Before it reads the end of this: a thread that ends this reads the job after that.
        if (isDone() || late != null) job.cancel(null);
    }

    private void decided(@Nullable SharedLock lock, @Nullable Throwable failure) {
        if (lock != null) {
            finish(() -> {
                if (!succeed(lock)) lock.close();
            });
        } else if (failure != null && !(failure instanceof CancellationException)) {
            finish(() -> fail(traced(failure)));
        } else if (late != null) {
            failLate();
        }
    }

    private void timeOut(Duration timeout) {
        if (isDone()) return;
        late = traced(new TimeoutException(Late.lock(timeout, mutex)));
        withdraw();
        // A wait for others ends a moment later. A caller that sees this fail must find the queue without it.
        if (place.isCompletedExceptionally()) failLate();
    }

    private void failLate() {
        TimeoutException late = Objects.requireNonNull(this.late);
        finish(() -> fail(late));
    }

    private void finish(Runnable completion) {
        Executor context = place.executor();
        CallbackExecutor.run(context, completion);
    }

    @Override
    protected void withdraw() {
        place.cancel(false);
        cancelRunning();
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
