package guide.schedules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncRetry;
import baton.interop.AsyncSchedule;
import baton.interop.AsyncScheduleEdits;
import baton.interop.ScheduleStores;
import baton.interop.Triggers;
import baton.resilience.RetryPolicy;
import baton.scheduler.Overlap;
import baton.scheduler.PausedBy;
import baton.scheduler.RunOutcome;
import baton.scheduler.ScheduleEntry;
import baton.test.ManualClock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Java of docs/schedules.md. */
class SchedulesJavaTest {
    @TempDir
    Path folder;

    @Test
    void reports_thatAreOrdered_runAndAreKept() throws Exception {
        BlockingQueue<String> runs = new LinkedBlockingQueue<>();
        Path journal = folder.resolve("reports.journal");
        try (Reports reports = new Reports(journal, runs::add)) {
            reports.order("customer 7");
            assertEquals("customer 7", runs.take());
        }
        assertTrue(Files.size(journal) > 0);
    }

    @Test
    void schedule_ofFutures_runsByItsClock() {
        ManualClock clock = new ManualClock(Instant.parse("2027-01-01T00:00:00Z"));
        List<Instant> runs = new ArrayList<>();
        List<Throwable> failures = new ArrayList<>();
        RetryPolicy thrice = AsyncRetry.builder().maxAttempts(3).build().kotlin();
        AsyncSchedule<String> checks = AsyncSchedule.<String>builder(due -> {
                    runs.add(due.getAt());
                    return CompletableFuture.completedFuture("checked");
                })
                .overlap(Overlap.QUEUE_ONE)
                .catchUp(3)
                .runTimeout(key -> Duration.ofSeconds(30))
                .retry(key -> thrice)
                .onFailure((key, failure) -> failures.add(failure))
                .clock(clock)
                .executor(Runnable::run) // in a test: within advance
                .start();
        checks.put("login", Triggers.daily(LocalTime.of(6, 30), ZoneId.of("Europe/Berlin")));
        clock.advance(Duration.ofDays(2));
        assertEquals(List.of(Instant.parse("2027-01-01T05:30:00Z"), Instant.parse("2027-01-02T05:30:00Z")), runs);
        for (ScheduleEntry<String> entry : checks.entries(1_000)) assertEquals("login", entry.getKey());
        checks.close();
        assertTrue(failures.isEmpty());
    }

    @Test
    void entries_afterARun_showItsEndAndItsOutcome() {
        ManualClock clock = new ManualClock(Instant.parse("2027-01-01T00:00:00Z"));
        List<CompletableFuture<String>> runs = new ArrayList<>();
        AsyncSchedule<String> schedule = AsyncSchedule.<String>builder(due -> {
                    CompletableFuture<String> run = new CompletableFuture<>();
                    runs.add(run);
                    return run;
                })
                .clock(clock)
                .executor(Runnable::run)
                .start();
        schedule.put("report", Triggers.every(Duration.ofHours(1), Instant.EPOCH));
        schedule.put("paused", Triggers.every(Duration.ofHours(1)));
        schedule.pause("paused");
        clock.advance(Duration.ofMinutes(70));
        ScheduleEntry<String> running = entry(schedule, "report");
        assertEquals(Instant.parse("2027-01-01T01:00:00Z"), running.getRunningSince());
        assertNull(running.getLastRun());
        runs.get(0).complete("ten minutes later");
        ScheduleEntry<String> ended = entry(schedule, "report");
        assertEquals(Instant.parse("2027-01-01T01:10:00Z"), ended.getLastRun()); // the end of the run
        assertEquals(RunOutcome.SUCCEEDED, ended.getLastOutcome());
        assertNull(ended.getRunningSince());
        assertEquals(PausedBy.USER, entry(schedule, "paused").getPausedBy());

        List<ScheduleEntry<String>> due = schedule.entries(1_000).stream()
                .filter(entry -> entry.getNextDue() != null)
                .sorted(Comparator.comparing(ScheduleEntry::getNextDue))
                .toList();
        for (ScheduleEntry<String> entry : due)
            System.out.println(entry.getKey() + ": due " + entry.getNextDue() + ", last " + entry.getLastOutcome());
        assertEquals(List.of("report"), due.stream().map(ScheduleEntry::getKey).toList());
        List<ScheduleEntry<String>> shown = new ArrayList<>();
        List<ScheduleEntry<String>> page = schedule.entries(1_000);
        while (!page.isEmpty()) {
            shown.addAll(page);
            page = schedule.entries(page.get(page.size() - 1).getKey(), 1_000);
        }
        assertEquals(2, shown.size());
        schedule.close();
    }

    private static ScheduleEntry<String> entry(AsyncSchedule<String> schedule, String key) {
        return schedule.entries(10).stream()
                .filter(entry -> entry.getKey().equals(key))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void edit_inATransaction_reachesTheSchedule() throws Exception {
        JdbcDataSource dataSource = new JdbcDataSource();
        dataSource.setURL("jdbc:h2:" + folder.resolve("jobs"));
        BlockingQueue<String> runs = new LinkedBlockingQueue<>();
        ScheduleStores.createTables(dataSource, "jobs").join();
        AsyncSchedule<String> schedule = AsyncSchedule.<String>blockingBuilder(due -> runs.add(due.getKey()))
                .store(ScheduleStores.jdbc(dataSource, "jobs"))
                .start();
        AsyncScheduleEdits<String> edits = AsyncScheduleEdits.of(dataSource, "jobs"); // close() it when no edit follows
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            edits.edit(connection, it -> it.put("invoice 7", Triggers.at(Instant.now())));
            connection.commit();
        }
        schedule.resync().join(); // in the program of the schedule: takes the edit at once
        assertEquals("invoice 7", runs.take());
        schedule.close();
        edits.close().join();
    }

    @Test
    void edit_outsideOfATransaction_isRefused() throws Exception {
        JdbcDataSource dataSource = new JdbcDataSource();
        dataSource.setURL("jdbc:h2:" + folder.resolve("other"));
        AsyncScheduleEdits<String> edits = AsyncScheduleEdits.of(dataSource, "jobs");
        edits.createTables().join();
        try (Connection connection = dataSource.getConnection()) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> edits.edit(connection, it -> it.put("a", Triggers.every(Duration.ofMinutes(1)))));
        }
        edits.edit("a", Triggers.every(Duration.ofMinutes(5)), Priority.NORMAL).join();
        edits.delete("a").join();
        edits.close().join();
    }
}
