package baton.interop;

import baton.Priority;
import baton.scheduler.StageTask;
import baton.scheduler.TaskScheduler;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A task in the queue of a scheduler, as the future of its place. Cancelled before its turn, it leaves the queue at
 * once; after that the place is there, for whoever cancels to give back.
 */
final class TaskGrant extends CompletableFuture<Permit> {
    private final TaskScheduler scheduler;
    private final Entry entry;

    /** The call that has this place; written before it is submitted. */
    private @Nullable CompletableFuture<?> call;

    private TaskGrant(TaskScheduler scheduler, Priority priority) {
        this.scheduler = scheduler;
        this.entry = new Entry(scheduler, priority);
    }

    /** Has {@code task} run on {@code executor} when it is its turn. */
    static <T extends @Nullable Object> CompletableFuture<T> schedule(
            TaskScheduler scheduler,
            Priority priority,
            Supplier<? extends CompletionStage<T>> task,
            Executor executor) {
        TaskGrant grant = new TaskGrant(scheduler, priority);
        CompletableFuture<T> call = GuardedCall.run(grant, task, executor);
        grant.call = call;
        grant.entry.submit();
        return call;
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return entry.withdraw() && super.cancel(mayInterruptIfRunning);
    }

    private final class Entry extends StageTask {
        Entry(TaskScheduler scheduler, Priority priority) {
            super(scheduler, priority);
        }

        @Override
        protected void begin() {
            TaskGrant.super.complete(new Place());
        }

        @Override
        protected void refused(Throwable why) {
            TaskGrant.super.completeExceptionally(why);
        }

        @Override
        protected void cancelled(Throwable why) {
            CompletableFuture<?> whole = call;
            if (whole != null) whole.cancel(true);
        }
    }

    private final class Place extends HeldPermit {
        @Override
        void closeAfter(@Nullable Throwable failure) {
            if (spend()) entry.end(failure, failure instanceof CancellationException);
        }

        /** Given back by whoever never began. */
        @Override
        void giveBack() {
            entry.end(new CancellationException("cancelled before it began"), true);
        }

        @Override
        String describe() {
            return "a place of " + scheduler;
        }
    }
}
