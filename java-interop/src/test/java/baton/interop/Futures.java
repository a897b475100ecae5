package baton.interop;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
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

    /** Runs the action. Returns the exceptions that this thread's handler of uncaught exceptions gets meanwhile. */
    public static List<Throwable> reportedBy(Runnable action) {
        List<Throwable> reported = new ArrayList<>();
        reportingTo(reported::add, action);
        return reported;
    }

    /** Runs the action. Passes on the exceptions that this thread's handler of uncaught exceptions gets meanwhile. */
    public static void reportingTo(Consumer<Throwable> report, Runnable action) {
        Thread thread = Thread.currentThread();
        Thread.UncaughtExceptionHandler before = thread.getUncaughtExceptionHandler();
        thread.setUncaughtExceptionHandler((t, e) -> report.accept(e));
        try {
            action.run();
        } finally {
            thread.setUncaughtExceptionHandler(before);
        }
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
