package users;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.junit.jupiter.api.Assertions.assertFalse;

import baton.interop.AsyncSchedule;
import baton.interop.Triggers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class ScheduleTest {
    @Test
    void schedule_onForeignJars_runs() throws Exception {
        CompletableFuture<String> ran = new CompletableFuture<>();
        try (AsyncSchedule<String> schedule = AsyncSchedule.<String>builder(due -> {
                    ran.complete(due.getKey());
                    return CompletableFuture.completedFuture(null);
                })
                .start()) {
            schedule.put("a", Triggers.every(Duration.ofMillis(1)));
            schedule.ended().whenComplete((value, failure) -> ran.completeExceptionally(failure));
            ran.get(2, MINUTES);
            assertFalse(schedule.ended().isDone());
        }
    }
}
