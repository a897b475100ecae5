package baton.interop.internal.futures;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/** How failures cross from stages to ours: as themselves, without the wrappers that stages put around them. */
public final class Stages {
    private Stages() {}

    public static Throwable unwrap(Throwable failure) {
        Throwable cause = failure.getCause();
        boolean wrapper = failure instanceof CompletionException || failure instanceof ExecutionException;
        return wrapper && cause != null ? cause : failure;
    }

    /** Why the future, which has failed, did. */
    public static Throwable failure(CompletableFuture<?> future) {
        return unwrap(future.handle((value, e) -> e).join());
    }

    /** A new CancellationException with the reason as its cause. */
    public static CancellationException cancellation(Throwable reason) {
        CancellationException e = new CancellationException(reason.toString());
        e.initCause(reason);
        return e;
    }

    /** Cancels the stage, if it can be cancelled. */
    public static void cancel(CompletionStage<?> stage) {
        try {
            boolean isFuture = stage instanceof Future && !(stage instanceof CompletableFuture);
            Future<?> future = isFuture ? (Future<?>) stage : stage.toCompletableFuture();
            future.cancel(true);
        } catch (RuntimeException ignored) {
            // A stage that does not let itself be seen as a future cannot be cancelled; it will end by itself.
        }
    }
}
