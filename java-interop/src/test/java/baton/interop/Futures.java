package baton.interop;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Helpers shared by the tests of the futures. */
public final class Futures {
    /** Refuses every command with the exception that the contract of Executor prescribes. */
    public static final Executor REJECTING = task -> {
        throw new RejectedExecutionException("full");
    };

    private Futures() {}

    /** The exception with which the future has failed, exactly as the future stores it. */
    public static Throwable failure(CompletableFuture<?> future) {
        assertTrue(future.isCompletedExceptionally(), () -> "should have failed: " + future);
        return future.handle((value, e) -> e).join();
    }

    /** Waits for a future that another thread completes. */
    public static <T extends @Nullable Object> T await(CompletableFuture<T> future) {
        try {
            return future.get(120, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new AssertionError("no value: " + future, e);
        }
    }

    /** Waits for a future that another thread fails. */
    public static Throwable awaitFailure(CompletableFuture<?> future) {
        return await(future.handle((value, e) -> e));
    }

    /**
     * The type by which the exception is compared with that of a CompletableFuture: a cancellation without a stack trace is
     * one like another.
     */
    public static Class<?> typeOf(Throwable e) {
        return e instanceof CancellationException ? CancellationException.class : e.getClass();
    }

    /** Runs the action, and returns the last exception that was reported on this thread; null if there was none. */
    public static @Nullable Throwable reportedBy(Runnable action) {
        AtomicReference<@Nullable Throwable> reported = new AtomicReference<>();
        Thread thread = Thread.currentThread();
        Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
        thread.setUncaughtExceptionHandler((t, e) -> reported.set(e));
        try {
            action.run();
        } finally {
            thread.setUncaughtExceptionHandler(before);
        }
        return reported.get();
    }

    /** An executor that runs its tasks when the test calls it. */
    public static final class Steps implements Executor {
        private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();

        @Override
        public void execute(Runnable task) {
            tasks.add(task);
        }

        public int size() {
            return tasks.size();
        }

        public void runAll() {
            for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) task.run();
        }
    }
}
