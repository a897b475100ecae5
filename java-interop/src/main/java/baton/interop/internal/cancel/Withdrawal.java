package baton.interop.internal.cancel;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * Replaces the sources of a stage that was ended from outside, and those of all links that end with it. These links are
 * completed after that stage, in the order in which the stage has left them: if they were completed first, they would
 * complete it with their failure.
 *
 * <p>For the same reason a link is completed after all stages that have left it. So where another thread is still
 * leaving a link, that thread completes the link, and then all that remains here. Threads do not wait for each other in
 * a circle: a link waits only for departures that were earlier than the last one from it.
 */
final class Withdrawal {
    /** A link that had other dependents when it was left. */
    private record Early(CancellationNode<?> link) {}

    /** The stage that was ended from outside; null if it was done or ended before. */
    final @Nullable CancellationNode<?> first;

    final CancellationException why;
    final Throwable reason;

    /** Links that were left last, Earlies, and actions. Belongs to the thread that leaves, then to the one that completes. */
    private List<Object> completions = new ArrayList<>();

    private int completed;

    Withdrawal(@Nullable CancellationNode<?> first, CancellationException why, Throwable reason) {
        this.first = first;
        this.why = why;
        this.reason = reason;
    }

    /** Has the action run after the stage and the links before it are completed. */
    void runAfterwards(Runnable action) {
        completions.add(action);
    }

    /** The link was left, by its last dependent or earlier; if it ends with this, it is completed in its turn. */
    void leftAfterwards(CancellationNode<?> link, boolean isLast) {
        completions.add(isLast ? link : new Early(link));
    }

    /** To be called when the stage is completed, and by a thread that has completed a link for which this waits. */
    void runCompletions() {
        while (completed < completions.size()) {
            Object next = completions.get(completed++);
            if (next instanceof CancellationNode<?> link) {
                boolean isMine = link.hasEndedWith(this); // once this thread has left, another may run the rest
                if (!link.left(this) && isMine) return;
            } else if (next instanceof Early early) {
                var unused = early.link.left(this);
            } else {
                ((Runnable) next).run();
            }
        }
        completions = List.of(); // a stage that was ended may be kept by its source
        completed = 0;
    }
}
