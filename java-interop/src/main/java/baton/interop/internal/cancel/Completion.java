package baton.interop.internal.cancel;

import baton.interop.internal.futures.Stages;
import baton.waiting.threads.Trampoline;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/** How a piece of work has ended: decided once, by the thread that sets it into the {@link CancellableWork}. */
final class Completion {
    final @Nullable Object value;

    /** Null if it ended with a value. */
    final @Nullable Throwable failure;

    /** The reason for which the work was cancelled; null if it ended by itself. */
    final @Nullable Throwable reason;

    /** The teardowns, for the thread that completes the future. */
    CancellableWork.@Nullable Teardown registered;

    /** Whether the work was cancelled because all its dependents had ended. */
    final boolean isByDependents;

    private Completion(
            @Nullable Object value, @Nullable Throwable failure, @Nullable Throwable reason, boolean isByDependents) {
        this.value = value;
        this.failure = failure;
        this.reason = reason;
        this.isByDependents = isByDependents;
    }

    static Completion byItself(@Nullable Object value, @Nullable Throwable failure) {
        return new Completion(value, failure, null, false);
    }

    static Completion fromOutside(@Nullable Object value, @Nullable Throwable failure, Throwable reason) {
        return new Completion(value, failure, reason, false);
    }

    static Completion fromDependents(CancellationException why, Throwable reason) {
        return new Completion(null, why, reason, true);
    }

    boolean needsTeardown() {
        return failure != null || reason != null;
    }

    /** Attaches the exception of a teardown to the failure. Without a failure, the thread's handler gets it. */
    void attach(Throwable thrown) {
        if (failure == null) {
            Trampoline.report(thrown);
        } else if (failure != thrown) {
            failure.addSuppressed(thrown);
        }
    }

    /** The work has failed after it was cancelled: attaches the failure, unless the cancel has caused it. */
    void failedAfterwards(Throwable thrown) {
        Throwable cause = Stages.unwrap(thrown);
        if (failure != null && !(cause instanceof CancellationException || cause instanceof InterruptedException)) {
            attach(thrown);
        }
    }
}
