package baton.interop.internal.parallel;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A call on a thread of an executor, as a stage. Cancelling it before it has begun completes it. Afterwards that
 * interrupts its thread, and it completes when the call has ended.
 *
 * <p>Under the lock either the thread is interrupted, or the call ends first and is not interrupted any more; so no
 * interrupt is left for the work that follows on the same thread.
 */
final class ThreadCall<R extends @Nullable Object> extends CompletableFuture<R> implements Runnable {
    private final Callable<? extends R> call;
    private final Object lock = new Object();
    private boolean hasBegun;
    private boolean isInterrupted;

    /** Null before the call has begun, and after it. */
    private @Nullable Thread thread;

    ThreadCall(Callable<? extends R> call) {
        this.call = call;
    }

    @Override
    public void run() {
        if (!tryBegin(Thread.currentThread())) return;
        R value;
        try {
            value = call.call();
        } catch (Throwable e) {
            end();
            completeExceptionally(e);
            return;
        }
        end();
        complete(value);
    }

    private boolean tryBegin(@Nullable Thread by) {
        synchronized (lock) {
            if (hasBegun) return false;
            hasBegun = true;
            thread = by;
            return true;
        }
    }

    private void end() {
        synchronized (lock) {
            thread = null;
            if (isInterrupted) {
                boolean unused = Thread.interrupted();
            }
        }
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        if (tryBegin(null)) return super.cancel(mayInterruptIfRunning);
        synchronized (lock) {
            if (thread != null && !isInterrupted) {
                isInterrupted = true;
                thread.interrupt();
            }
        }
        return isCancelled();
    }
}
