package baton.interop.internal.cancel;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * Replaces the sources of a stage that was ended from outside, and those of all links that end with it. These links are
 * completed after that stage: if they were completed first, they would complete it with their failure.
 */
final class Withdrawal {
    final CancellationException why;
    final Throwable reason;

    /** Null once the stage and all links are completed. Guarded by this. */
    private @Nullable List<Runnable> completions = new ArrayList<>();

    Withdrawal(CancellationException why, Throwable reason) {
        this.why = why;
        this.reason = reason;
    }

    /** Runs the completion once the stage that was ended first is completed: then, or now if it is. */
    void runAfterwards(Runnable completion) {
        synchronized (this) {
            if (completions != null) {
                completions.add(completion);
                return;
            }
        }
        completion.run();
    }

    /** To be called when the stage that was ended first is completed. */
    void runCompletions() {
        for (List<Runnable> next = takeCompletions(); !next.isEmpty(); next = takeCompletions()) {
            for (Runnable completion : next) completion.run();
        }
    }

    private synchronized List<Runnable> takeCompletions() {
        List<Runnable> taken = completions == null ? List.of() : completions;
        completions = taken.isEmpty() ? null : new ArrayList<>();
        return taken;
    }
}
