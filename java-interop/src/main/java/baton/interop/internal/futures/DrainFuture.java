package baton.interop.internal.futures;

import baton.bridge.SyncBridge;
import baton.scheduler.TaskScheduler;
import baton.scheduler.bridge.StageTasks;
import baton.sync.Latch;
import baton.waiting.WaitCore;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The future of the drain of a scheduler. It waits at a latch; its texts name the scheduler. */
public final class DrainFuture extends WaiterFuture<@Nullable Void> {
    private final TaskScheduler scheduler;

    private DrainFuture(TaskScheduler scheduler, WaitCore core) {
        super(core, 1, null, null, null);
        this.scheduler = scheduler;
    }

    /** Ends the intake of the scheduler. The future completes when all tasks have ended. */
    public static CompletableFuture<@Nullable Void> of(TaskScheduler scheduler) {
        Latch allEnded = StageTasks.beginDrain(scheduler);
        if (allEnded.getCount() == 0) return CompletableFuture.completedFuture(null);
        DrainFuture future = new DrainFuture(scheduler, SyncBridge.of(allEnded));
        future.start(null, null);
        return future;
    }

    @Override
    protected String call() {
        return "drain of " + StageTasks.labelOf(scheduler);
    }

    @Override
    protected String description() {
        return "drain of " + scheduler;
    }
}
