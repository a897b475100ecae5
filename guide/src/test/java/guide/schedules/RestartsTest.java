package guide.schedules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncSchedule;
import baton.interop.ScheduleStores;
import baton.interop.Triggers;
import baton.scheduler.ScheduleMetrics;
import baton.scheduler.ScheduleOwnedException;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sqlite.SQLiteDataSource;

/** Restarts of a schedule on tables, of docs/schedules.md. */
@Timeout(300)
class RestartsTest {
    @TempDir
    Path folder;

    private Process startJobs() throws IOException {
        List<String> command = new ArrayList<>(List.of(
                new File(System.getProperty("java.home"), "bin/java").getPath(),
                "-Dslf4j.internal.verbosity=ERROR",
                "-cp",
                System.getProperty("java.class.path")));
        if (Runtime.version().feature() >= 22) command.add(1, "--enable-native-access=ALL-UNNAMED");
        command.addAll(List.of(Jobs.class.getName(), folder.resolve("jobs.db").toString()));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    /** Returns once the program has written its entries. */
    private static void awaitStart(Process jobs) throws IOException {
        BufferedReader output =
                new BufferedReader(new InputStreamReader(jobs.getInputStream(), StandardCharsets.UTF_8));
        StringBuilder read = new StringBuilder();
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            if (line.startsWith("due ")) return;
            read.append(line).append('\n');
        }
        throw new AssertionError("ended: " + read);
    }

    private AsyncSchedule<String> start() {
        SQLiteDataSource dataSource = new SQLiteDataSource();
        dataSource.setUrl("jdbc:sqlite:" + folder.resolve("jobs.db") + "?journal_mode=WAL");
        ScheduleStores.createTables(dataSource, "jobs").join();
        return AsyncSchedule.<String>blockingBuilder(due -> {})
                .store(ScheduleStores.jdbc(dataSource, "jobs"))
                .flushEvery(Duration.ofSeconds(1))
                .onFailure((key, failure) -> {})
                .start();
    }

    @Test
    void program_endedBySigterm_freesTheTablesForTheNextOneAtOnce() throws Exception {
        for (int i = 0; i < 2; i++) {
            Process jobs = startJobs();
            awaitStart(jobs);
            jobs.destroy();
            assertTrue(jobs.waitFor(1, TimeUnit.MINUTES));
        }
        AsyncSchedule<String> schedule = start();
        schedule.resync().join();
        assertEquals(2, schedule.size());
        Optional<Instant> due = schedule.nextDue("report");
        assertTrue(due.isPresent());
        ScheduleMetrics metrics = schedule.metrics();
        assertEquals(0, metrics.getFailed());
        schedule.close();
    }

    @Test
    void program_killed_keepsItsEntriesButOwnsTheTablesForAWhile() throws Exception {
        Process jobs = startJobs();
        awaitStart(jobs);
        jobs.destroyForcibly();
        assertTrue(jobs.waitFor(1, TimeUnit.MINUTES));
        AsyncSchedule<String> early = start(); // returns normally
        CompletionException end = assertThrows(CompletionException.class, early.ended()::join);
        assertInstanceOf(ScheduleOwnedException.class, end.getCause());
        AsyncSchedule<String> schedule = Restarts.startOnceFree(this::start);
        assertEquals(2, schedule.size());
        schedule.close();
    }

    @Test
    void putIfAbsent_beforeTheStoreIsLoaded_isTrueThoughTheStoredEntryStays() {
        AsyncSchedule<String> first = start();
        first.put("a", Triggers.at(Instant.parse("2999-01-01T00:00:00Z")));
        first.close();
        AsyncSchedule<String> next = start();
        next.putIfAbsent("a", Triggers.every(Duration.ofHours(1)), Priority.NORMAL);
        next.resync().join(); // the entries are loaded
        assertEquals(Optional.of(Instant.parse("2999-01-01T00:00:00Z")), next.nextDue("a"));
        assertFalse(next.putIfAbsent("a", Triggers.every(Duration.ofHours(1)), Priority.NORMAL));
        next.close();
    }
}
