package baton.interop;

import baton.scheduler.stages.ThreadRow;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Runs a call where its executor put it, and those that follow it there. A call whose stage has not ended when its
 * supplier returns leaves the row: whoever has its place next gets another.
 */
final class TaskRow extends ThreadRow<ScheduledCall<?, ?>> {
    private final Executor executor;

    TaskRow(Executor executor, @Nullable ScheduledCall<?, ?> first) {
        super(first, executor, executor instanceof ManagedExecutor);
        this.executor = executor;
    }

    /** As {@link #follow(Object)}, if {@code call} is to run on the executor of this. */
    boolean follow(ScheduledCall<?, ?> call, Executor on) {
        return on == executor && follow(call);
    }

    @Override
    protected void runHere(ScheduledCall<?, ?> call) {
        call.runIn(this);
    }
}
