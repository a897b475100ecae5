package baton.interop.internal.cancel;

import baton.interop.CancellableFunction;
import baton.interop.CancellationToken;
import baton.interop.internal.futures.FieldHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** A function as its executor has it. Once it is cancelled before it has begun, the task is empty and does nothing. */
final class FunctionTask<T extends @Nullable Object> implements Runnable {
    private static final VarHandle FUNCTION =
            FieldHandle.of(MethodHandles.lookup(), "function", CancellableFunction.class);

    private final WorkNode<T> future;
    private final CancellableWork work;
    private final CancellationToken token;

    private volatile @Nullable CancellableFunction<? extends T> function;

    FunctionTask(
            WorkNode<T> future,
            CancellableWork work,
            CancellableFunction<? extends T> function,
            CancellationToken token) {
        this.future = future;
        this.work = work;
        this.function = function;
        this.token = token;
    }

    void start(Executor executor) {
        try {
            executor.execute(this);
        } catch (Throwable e) {
            if (takeFunction() != null) future.workEnded(work, null, e);
        }
    }

    @Override
    public void run() {
        CancellableFunction<? extends T> mine = takeFunction();
        if (mine != null) future.runFunction(work, mine, token);
    }

    /** Whether the function has neither begun nor been dropped. */
    boolean isQueued() {
        return function != null;
    }

    /** Returns the function to the first caller, which runs or drops it; null to all others. */
    @SuppressWarnings("unchecked") // only the constructor writes a function
    @Nullable
    CancellableFunction<? extends T> takeFunction() {
        return (CancellableFunction<? extends T>) FUNCTION.getAndSet(this, null);
    }
}
