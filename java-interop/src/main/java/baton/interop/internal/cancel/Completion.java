package baton.interop.internal.cancel;

import baton.interop.internal.futures.Stages;
import baton.waiting.coroutine.Trampoline;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/** How a piece of work has ended: decided once, by whoever sets it into the token. */
final class Completion {
    final @Nullable Object value;

    /** Null if it ended with a value. */
    final @Nullable Throwable failure;

    /** Why the work is no longer wanted; null if it ended by itself. */
    final @Nullable Throwable reason;

    /** What is to be torn down; for the one who has decided. */
    CancellableWork.@Nullable Teardown registered;

    /** All its dependents were ended, and it with them. */
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

    /** A teardown has thrown: it goes with the failure, or to the thread's handler if there is none. */
    void attach(Throwable thrown) {
        if (failure == null) {
            Trampoline.report(thrown);
        } else if (failure != thrown) {
            failure.addSuppressed(thrown);
        }
    }

    /** The work was cancelled, and then failed: told if it says anything new. */
    void failedAfterwards(Throwable thrown) {
        Throwable what = Stages.unwrap(thrown);
        if (failure != null && !(what instanceof CancellationException || what instanceof InterruptedException)) {
            attach(thrown);
        }
    }
}
