package baton.interop.internal.futures;

import baton.waiting.threads.HandOverExecutor;
import baton.waiting.threads.RunOnce;
import baton.waiting.threads.Timeouts;
import baton.waiting.threads.Trampoline;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Runs callbacks, that is calls which lead to the user's code, with a bounded stack. */
public final class CallbackExecutor {
    /** Runs callbacks that would deepen the stack without bound. Unlike the common pool, no user code can fill it. */
    public static final Executor ELSEWHERE = HandOverExecutor.INSTANCE;

    private CallbackExecutor() {}

    /**
     * Runs the call once: on the executor; on this thread if there is none, or if it throws before it has run the call. At
     * too deep a stack a callback thread runs it in both cases, because an executor may run its tasks in place.
     */
    public static void run(@Nullable Executor executor, Runnable call) {
        if (executor == null) {
            runHere(null, call);
            return;
        }
        if (executor instanceof CallerContext context) {
            run(context.executor, () -> context.run(call));
            return;
        }
        // An executor may throw after it has queued the call, and then run it as well.
        var once = new RunOnce(() -> runHere(executor, call));
        try {
            executor.execute(once);
        } catch (Throwable e) { // It rejects or is broken; the call must run all the same.
            once.run();
        }
    }

    /** Runs the completion of the future, which runs its dependents. Without any it cannot deepen the stack. */
    static void complete(CompletableFuture<?> future, Runnable completion) {
        if (future.getNumberOfDependents() == 0) completion.run();
        else run(null, completion);
    }

    private static void runHere(@Nullable Executor executor, Runnable call) {
        // A callback must not hold up kotlinx's shared timer thread, on which a withTimeout cancels.
        if (!Timeouts.isOnSharedTimer() && Trampoline.enter()) {
            try {
                call.run();
            } finally {
                Trampoline.leave();
            }
            return;
        }
        try {
            Runnable same = executor == null ? CallerContext.runnable(call) : call;
            ELSEWHERE.execute(() -> run(executor, same));
        } catch (Throwable e) {
            call.run();
        }
    }

    /**
     * As CompletableFuture's own method, which also wraps the exception of the supplier, but calls the methods that the
     * future's class has overridden.
     */
    public static <T extends @Nullable Object> void completeAsync(
            CompletableFuture<T> future, Supplier<? extends T> supplier, Executor executor) {
        Objects.requireNonNull(supplier, "supplier");
        Objects.requireNonNull(executor, "executor");
        executor.execute(() -> {
            try {
                if (!future.isDone()) future.complete(supplier.get());
            } catch (Throwable e) {
                future.completeExceptionally(e instanceof CompletionException ? e : new CompletionException(e));
            }
        });
    }
}
