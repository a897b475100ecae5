package baton.interop;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** A function as its executor has it. When it is cancelled before it has begun, it is empty and does nothing. */
final class FunctionTask<T extends @Nullable Object> implements Runnable {
    private static final VarHandle FUNCTION;

    static {
        try {
            FUNCTION = MethodHandles.lookup().findVarHandle(FunctionTask.class, "function", CancellableFunction.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final CancellableFuture<T> future;
    private final CancellationToken token;

    @SuppressWarnings("UnusedVariable") // by FUNCTION
    private volatile @Nullable CancellableFunction<? extends T> function;

    FunctionTask(CancellableFuture<T> future, CancellationToken token, CancellableFunction<? extends T> function) {
        this.future = future;
        this.token = token;
        this.function = function;
    }

    void start(Executor executor) {
        try {
            executor.execute(this);
        } catch (Throwable e) {
            if (take() != null) future.ended(token, null, e);
        }
    }

    @Override
    public void run() {
        CancellableFunction<? extends T> mine = take();
        if (mine != null) future.work(token, mine);
    }

    /** The function, for the one who comes first: to run it, or to see to it that nobody will. */
    @SuppressWarnings("unchecked")
    @Nullable
    CancellableFunction<? extends T> take() {
        return (CancellableFunction<? extends T>) FUNCTION.getAndSet(this, null);
    }
}
