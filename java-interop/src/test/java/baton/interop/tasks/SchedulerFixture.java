package baton.interop.tasks;

import baton.Priority;
import baton.interop.AsyncTaskScheduler;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** A scheduler of one place, whose tasks the test ends. */
abstract class SchedulerFixture {
    final AsyncTaskScheduler scheduler =
            AsyncTaskScheduler.builder(1).executor(Runnable::run).build();
    final List<Object> begun = new ArrayList<>();
    final Map<Object, CompletableFuture<Object>> stages = new LinkedHashMap<>();

    /** A task that ends when its stage in {@link #stages} is completed. */
    final CompletableFuture<Object> add(Priority priority, Object name) {
        return scheduler.schedule(priority, () -> {
            begun.add(name);
            CompletableFuture<Object> stage = new CompletableFuture<>();
            stages.put(name, stage);
            return stage;
        });
    }

    final void end(Object name) {
        stages.get(name).complete(name);
    }
}
