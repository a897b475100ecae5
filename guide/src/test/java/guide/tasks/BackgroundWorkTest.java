package guide.tasks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncTaskScheduler;
import baton.interop.ScheduledTaskFuture;
import baton.interop.TaskOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Background work: an urgent task overtakes a thousand queued ones, a task runs 50 ms at most however long it was queued,
 * a queued task can be cancelled, failures reach a log, and the end waits for all.
 */
@Tag("any-jdk")
@Timeout(120)
class BackgroundWorkTest {
    private final Queue<String> log = new ConcurrentLinkedQueue<>();
    private final AsyncTaskScheduler work = AsyncTaskScheduler.builder(1)
            .onFailure((key, failure) -> log.add(key + ": " + failure.getClass().getSimpleName()))
            .build();

    @Test
    void work_overtakesEndsAndIsLogged() throws Exception {
        Queue<String> order = new ConcurrentLinkedQueue<>();
        CompletableFuture<String> gate = new CompletableFuture<>();
        ScheduledTaskFuture<String> first = work.schedule(Priority.NORMAL, () -> gate);
        List<ScheduledTaskFuture<String>> queued = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            String name = "queued " + i;
            queued.add(work.schedule(Priority.NORMAL, () -> done(order, name)));
        }
        queued.get(1).cancel(false);
        ScheduledTaskFuture<String> urgent = work.schedule(Priority.CRITICAL, () -> done(order, "urgent"));
        TaskOptions brief = TaskOptions.of(Priority.LOW).withKey("hangs").withRunTimeout(Duration.ofMillis(50));
        ScheduledTaskFuture<String> hanging = work.schedule(brief, () -> new CompletableFuture<>());
        work.schedule(TaskOptions.of(Priority.LOW).withKey("fails"), () -> {
            throw new IllegalStateException("no such page");
        });

        gate.complete("first");
        work.drain().get(120, TimeUnit.SECONDS);

        assertTrue(first.isDone() && urgent.isDone() && hanging.isCompletedExceptionally());
        assertEquals(
                List.of("urgent", "queued 0", "queued 2"),
                order.stream().limit(3).toList());
        assertEquals(1_000, order.size());
        assertEquals(
                List.of("fails: IllegalStateException", "hangs: TaskTimeoutException"),
                log.stream().sorted().toList());
    }

    private static CompletableFuture<String> done(Queue<String> order, String name) {
        order.add(name);
        return CompletableFuture.completedFuture(name);
    }
}
