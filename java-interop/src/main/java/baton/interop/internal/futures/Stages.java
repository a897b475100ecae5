package baton.interop.internal.futures;

import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Failures of stages, without the wrapper exceptions that stages put around them, and the cancelling of stages. */
public final class Stages {
    private Stages() {}

    /** The cause of a wrapper exception, or the failure itself. */
    public static Throwable unwrap(Throwable failure) {
        Throwable cause = failure.getCause();
        boolean wrapper = failure instanceof CompletionException || failure instanceof ExecutionException;
        return wrapper && cause != null ? cause : failure;
    }

    /** Whether the stage is a plain future that is done. False for subclasses: minimal stages refuse the question. */
    public static boolean isDone(CompletionStage<?> stage) {
        return stage.getClass() == CompletableFuture.class && ((CompletableFuture<?>) stage).isDone();
    }

    /** Whether the stage says that it is done. False for a stage that has no such question, or refuses it. */
    public static boolean isKnownDone(CompletionStage<?> stage) {
        if (!(stage instanceof Future<?> future)) return false;
        try {
            return future.isDone();
        } catch (UnsupportedOperationException refused) { // by a minimal stage
            return false;
        }
    }

    /** The failure of a future that has failed, unwrapped. */
    public static Throwable failure(CompletableFuture<?> future) {
        return unwrap(future.handle((value, e) -> e).join());
    }

    /** The end of a future, to be appended to its description: {@code ", cancelled"}; empty if it has not ended. */
    public static String endOf(CompletableFuture<?> future) {
        if (!future.isDone()) return "";
        if (future.isCancelled()) return ", cancelled";
        return future.isCompletedExceptionally() ? ", failed" + failureText(future) : ", done";
    }

    /** Empty if the failure is replaced meanwhile, or if its own {@code toString} throws. */
    private static String failureText(CompletableFuture<?> future) {
        try {
            return ": " + failure(future);
        } catch (RuntimeException e) {
            return "";
        }
    }

    /** The stage in the description of a future that waits for it: a request of Baton's, or else its class. */
    public static String describe(CompletionStage<?> stage) {
        if (stage instanceof RevocableFuture<?> request) return request.description();
        String name = stage.getClass().getSimpleName();
        return name.isEmpty() ? stage.getClass().getName() : name; // that of an anonymous class is empty
    }

    /** The value of a future that has completed; throws its failure unwrapped. */
    public static <T extends @Nullable Object> T result(CompletableFuture<T> future) throws Exception {
        try {
            return future.join();
        } catch (CompletionException e) {
            throw asException(unwrap(e));
        }
    }

    /** The failure as an exception to throw; throws it if it is an error. */
    public static Exception asException(@Nullable Throwable failure) {
        if (failure instanceof Error error) throw error;
        return failure instanceof Exception exception ? exception : new CompletionException(failure);
    }

    /** The action as one whose stage has completed when the action returns. */
    public static <T extends @Nullable Object> Supplier<CompletionStage<T>> ofCallable(Callable<? extends T> action) {
        Objects.requireNonNull(action, "action");
        return () -> {
            try {
                return CompletableFuture.completedFuture(action.call());
            } catch (Throwable e) {
                return CompletableFuture.failedFuture(e);
            }
        };
    }

    /** A new CancellationException with the reason as its cause. */
    public static CancellationException cancellation(Throwable reason) {
        CancellationException e = new CancellationException(reason.toString());
        e.initCause(reason);
        return e;
    }

    /** Withdraws the request of the future, see {@link RevocableFuture#withdraw}. */
    public static void withdraw(RevocableFuture<?> request) {
        request.withdraw();
    }

    /** Cancels the stage, if it can be cancelled. */
    public static void cancel(CompletionStage<?> stage) {
        try {
            boolean isFuture = stage instanceof Future && !(stage instanceof CompletableFuture);
            Future<?> future = isFuture ? (Future<?>) stage : stage.toCompletableFuture();
            future.cancel(true);
        } catch (RuntimeException ignored) {
            // A stage that is not convertible to a future cannot be cancelled; it completes by itself.
        }
    }
}
