package baton.interop.internal.futures;

import baton.waiting.coroutine.HandOverExecutor;
import baton.waiting.coroutine.Timeouts;
import baton.waiting.coroutine.Trampoline;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Where calls run that lead to the user's code. */
public final class CallbackExecutor {
    /** For callbacks that would deepen the stack without bound. Unlike the common pool, user code cannot fill it. */
    public static final Executor ELSEWHERE = HandOverExecutor.INSTANCE;

    private CallbackExecutor() {}

    /**
     * On the executor if there is one; on this thread if there is none, or it rejects. Either way elsewhere, where the
     * stack would grow without bound: an executor may well run its tasks at once.
     */
    public static void run(@Nullable Executor executor, Runnable call) {
        if (executor == null) {
            runHere(null, call);
            return;
        }
        try {
            executor.execute(() -> runHere(executor, call));
        } catch (Throwable e) { // It rejects, or is broken: nothing may be lost for that.
            runHere(executor, call);
        }
    }

    private static void runHere(@Nullable Executor executor, Runnable call) {
        // The timer thread of kotlinx.coroutines, on which a withTimeout cancels, is everybody's.
        if (!Timeouts.isOnSharedTimer() && Trampoline.enter()) {
            try {
                call.run();
            } finally {
                Trampoline.leave();
            }
            return;
        }
        try {
            ELSEWHERE.execute(() -> run(executor, call));
        } catch (Throwable e) {
            call.run();
        }
    }

    /**
     * As CompletableFuture's own does it, wrapping what the supplier throws included, but through what the future's
     * class has made of its methods.
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
