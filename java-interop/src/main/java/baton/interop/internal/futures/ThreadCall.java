package baton.interop.internal.futures;

import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A call on a thread of an executor, as a stage. Cancelling it before it has begun completes it. Afterwards that
 * interrupts its thread, and it completes when the call has ended.
 */
public final class ThreadCall<R extends @Nullable Object> extends CompletableFuture<R> implements Runnable {
    /** In place of the thread of a call that does not begin any more. */
    private static final Object NONE = new Object();

    private final Callable<? extends R> call;
    private final Set<ThreadCall<?>> running;
    private final Interruption interruption = new Interruption();

    /** Null before the call has begun; then its thread. */
    private final AtomicReference<@Nullable Object> runner = new AtomicReference<>();

    /** @param running holds this until the call has ended */
    public ThreadCall(Callable<? extends R> call, Set<ThreadCall<?>> running) {
        this.call = call;
        this.running = running;
    }

    @Override
    public void run() {
        if (!runner.compareAndSet(null, Thread.currentThread())) return;
        interruption.begin();
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

    private void end() {
        boolean unused = interruption.end();
        running.remove(this);
    }

    /** Lets the call not begin. False if it has begun, or does not begin anyway. */
    public boolean prevent() {
        if (!runner.compareAndSet(null, NONE)) return false;
        running.remove(this);
        return true;
    }

    /** Completes this if {@link #run} was called by this thread, and perhaps left by a throw. */
    public void endIfRunHere(Throwable thrown) {
        if (isDone() || runner.get() != Thread.currentThread()) return;
        end();
        completeExceptionally(thrown);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        if (prevent()) return super.cancel(mayInterruptIfRunning);
        interruption.interrupt();
        return isCancelled();
    }
}
