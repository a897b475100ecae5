package guide.schedules;

import baton.Priority;
import baton.interop.AsyncSchedule;
import baton.interop.ScheduleStores;
import baton.interop.Triggers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;

class Reports implements AutoCloseable {
    private final AsyncSchedule<String> schedule;

    Reports(Path journal, Consumer<String> report) {
        schedule = AsyncSchedule.<String>blockingBuilder(
                        due -> report.accept(due.getKey())) // each on a thread of its own
                .store(ScheduleStores.journal(journal))
                .maxConcurrency(20)
                .name("reports")
                .start();
    }

    void order(String customer) {
        schedule.put(customer, Triggers.every(Duration.ofHours(1)), Priority.NORMAL, null, true); // keeps its due time
        schedule.triggerNow(customer);
    }

    @Override
    public void close() {
        schedule.close(); // waits for what runs, and writes what has changed
    }
}
