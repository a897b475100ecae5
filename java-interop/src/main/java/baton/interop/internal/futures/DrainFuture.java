package baton.interop.internal.futures;

import baton.bridge.SyncBridge;
import baton.scheduler.TaskScheduler;
import baton.scheduler.bridge.StageTasks;
import baton.sync.Latch;
import baton.waiting.WaitCore;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The future of a wait for the tasks of a scheduler. It waits at a latch; its texts name the scheduler. */
public final class DrainFuture extends WaiterFuture<@Nullable Void> {
    private final TaskScheduler scheduler;
    private final String wait;

    private DrainFuture(TaskScheduler scheduler, String wait, WaitCore core) {
        super(core, 1, null, null, null);
        this.scheduler = scheduler;
        this.wait = wait;
    }

    /** Ends the intake of the scheduler. The future completes when all tasks have ended. */
    public static CompletableFuture<@Nullable Void> of(TaskScheduler scheduler) {
        return at(StageTasks.beginDrain(scheduler), scheduler, "drain");
    }

    /** Completes at the next moment without tasks. */
    public static CompletableFuture<@Nullable Void> idle(TaskScheduler scheduler) {
        return at(StageTasks.idle(scheduler), scheduler, "awaitIdle");
    }

    private static CompletableFuture<@Nullable Void> at(@Nullable Latch latch, TaskScheduler scheduler, String wait) {
        if (latch == null || latch.getCount() == 0) return CompletableFuture.completedFuture(null);
        DrainFuture future = new DrainFuture(scheduler, wait, SyncBridge.of(latch));
        future.start(null, null);
        return future;
    }

    @Override
    protected String call() {
        return wait + " of " + StageTasks.labelOf(scheduler);
    }

    @Override
    protected String description() {
        return wait + " of " + scheduler;
    }
}
