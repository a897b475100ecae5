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

    /** Links, and actions; null once the stage and all links are completed. Guarded by this. */
    private @Nullable List<Object> completions = new ArrayList<>();

    Withdrawal(CancellationException why, Throwable reason) {
        this.why = why;
        this.reason = reason;
    }

    /** Runs the completion once the stage that was ended first is completed: then, or now if it is. */
    void runAfterwards(Runnable completion) {
        if (!isPending(completion)) completion.run();
    }

    /** As {@link #runAfterwards}, for a link to be completed with {@link #why}. */
    void completeAfterwards(CancellationNode<?> link) {
        if (!isPending(link)) link.set(null, why);
    }

    private synchronized boolean isPending(Object completion) {
        return completions != null && completions.add(completion);
    }

    /** To be called when the stage that was ended first is completed. */
    void runCompletions() {
        for (List<Object> next = takeCompletions(); !next.isEmpty(); next = takeCompletions()) {
            for (Object completion : next) {
                if (completion instanceof CancellationNode<?> link) link.set(null, why);
                else ((Runnable) completion).run();
            }
        }
    }

    private synchronized List<Object> takeCompletions() {
        List<Object> taken = completions == null ? List.of() : completions;
        completions = taken.isEmpty() ? null : new ArrayList<>();
        return taken;
    }
}
