package guide.priorities;

import baton.Priority;
import baton.interop.AsyncTaskScheduler;
import baton.interop.ScheduledTaskFuture;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

class Uplink {
    private final AsyncTaskScheduler scheduler = AsyncTaskScheduler.create(1, "uplink");

    ScheduledTaskFuture<String> prefetch(Supplier<CompletableFuture<String>> request) {
        return scheduler.schedule(Priority.LOW, request);
    }

    ScheduledTaskFuture<String> open(Supplier<CompletableFuture<String>> request) {
        return scheduler.schedule(Priority.HIGH, request);
    }
}
