package baton.interop.schedule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import baton.Priority;
import baton.interop.AsyncSchedule;
import baton.interop.AsyncScheduleEdits;
import baton.interop.ScheduleStores;
import baton.interop.Triggers;
import baton.scheduler.KeyCodec;
import baton.scheduler.ScheduleOwnedException;
import baton.scheduler.ScheduleStore;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;

/** Stores in a database, on H2 in memory. */
class JdbcScheduleStoreTest {
    private final JdbcDataSource source = new JdbcDataSource();

    private JdbcDataSource source(String name) {
        source.setURL("jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1");
        return source;
    }

    private static <T extends Throwable> T failureOf(Class<T> type, CompletableFuture<?> future) {
        ExecutionException failure = assertThrows(ExecutionException.class, () -> future.get(120, TimeUnit.SECONDS));
        return assertInstanceOf(type, failure.getCause());
    }

    @Test
    void schedule_onTheTables_takesOverEditsOfOthers() throws Exception {
        source("edits");
        AsyncScheduleEdits<String> edits = AsyncScheduleEdits.of(source, "checks");
        edits.createTables().get(120, TimeUnit.SECONDS);
        edits.edit("before", Triggers.every(Duration.ofMillis(10)), Priority.HIGH)
                .get(120, TimeUnit.SECONDS);
        Set<String> fired = ConcurrentHashMap.newKeySet();
        CompletableFuture<Void> both = new CompletableFuture<>();
        ExecutorService executor = Executors.newSingleThreadExecutor();
        ScheduleStore<String> store =
                ScheduleStores.jdbc(source, "checks", KeyCodec.Companion.getSTRING(), Duration.ofMillis(20), executor);
        AsyncSchedule<String> schedule = AsyncSchedule.<String>builder(due -> {
                    fired.add(due.getKey());
                    if (fired.containsAll(Set.of("before", "after"))) both.complete(null);
                    return CompletableFuture.completedFuture(null);
                })
                .store(store)
                .name("checks")
                .start();
        edits.edit("after", Triggers.every(Duration.ofMillis(10)), Priority.NORMAL)
                .get(120, TimeUnit.SECONDS);
        both.get(120, TimeUnit.SECONDS);

        AsyncSchedule<String> second = AsyncSchedule.<String>builder(due -> CompletableFuture.completedFuture(null))
                .store(ScheduleStores.jdbc(source, "checks"))
                .start();
        ScheduleOwnedException refusal = failureOf(ScheduleOwnedException.class, second.ended());
        assertTrue(refusal.getOwner().startsWith("Schedule 'checks', process "), refusal.getOwner());
        schedule.shutdown().get(120, TimeUnit.SECONDS);
        executor.shutdown();
        edits.close().get(120, TimeUnit.SECONDS);
    }

    @Test
    void edits_inATransactionOfTheCaller_areTrueWithItsCommit() throws Exception {
        source("transaction");
        AsyncScheduleEdits<String> edits = AsyncScheduleEdits.of(source, "checks");
        edits.createTables().get(120, TimeUnit.SECONDS);
        CompletableFuture<String> fired = new CompletableFuture<>();
        ExecutorService executor = Executors.newSingleThreadExecutor();
        ScheduleStore<String> store =
                ScheduleStores.jdbc(source, "checks", KeyCodec.Companion.getSTRING(), Duration.ofMillis(20), executor);
        AsyncSchedule<String> schedule = AsyncSchedule.<String>blockingBuilder(
                        due -> fired.complete(due.getKey() + " " + due.getText()))
                .store(store)
                .start();
        try (Connection connection = source.getConnection()) {
            assertThrows(IllegalArgumentException.class, () -> edits.edit(connection, it -> it.remove("a")));
            connection.setAutoCommit(false);
            edits.edit(connection, it -> it.put("rolled back", Triggers.at(Instant.EPOCH)));
            connection.rollback();
            edits.edit(connection, it -> {
                it.put("a", Triggers.at(Instant.EPOCH), Priority.HIGH, "data".getBytes(StandardCharsets.UTF_8));
                it.remove("none");
            });
            assertFalse(fired.isDone());
            connection.commit();
        }
        assertEquals("a data", fired.get(120, TimeUnit.SECONDS));
        schedule.shutdown().get(120, TimeUnit.SECONDS);
        executor.shutdown();
        edits.close().get(120, TimeUnit.SECONDS);
    }

    @Test
    void createTables_beforeTheStart_letsASchedulePutItsEntries() throws Exception {
        source("created");
        ScheduleStores.createTables(source, "jobs").get(120, TimeUnit.SECONDS);
        ScheduleStores.createTables(source, "jobs").get(120, TimeUnit.SECONDS); // at each start
        AsyncSchedule<String> schedule = AsyncSchedule.<String>blockingBuilder(due -> {})
                .store(ScheduleStores.jdbc(source, "jobs"))
                .start();
        schedule.put("a", Triggers.every(Duration.ofHours(1)));
        schedule.shutdown().get(120, TimeUnit.SECONDS);
        AsyncSchedule<String> next = AsyncSchedule.<String>blockingBuilder(due -> {})
                .store(ScheduleStores.jdbc(source, "jobs"))
                .start();
        next.resync().get(120, TimeUnit.SECONDS);
        assertEquals(1, next.size());
        next.shutdown().get(120, TimeUnit.SECONDS);
        assertThrows(IllegalArgumentException.class, () -> ScheduleStores.createTables(source, "a; DROP TABLE b"));
    }

    @Test
    void schedule_withoutItsTables_endsWithTheNameOfTheCallThatCreatesThem() throws Exception {
        AsyncSchedule<String> schedule = AsyncSchedule.<String>blockingBuilder(due -> {})
                .store(ScheduleStores.jdbc(source("missing"), "jobs"))
                .onFailure((key, failure) -> {})
                .start();
        SQLException failure = failureOf(SQLException.class, schedule.ended());
        assertTrue(failure.getMessage().contains("call createTables"), failure.getMessage());
    }

    @Test
    void edits_thatCannotBe_failTheirFutures() throws Exception {
        source("refused");
        AsyncScheduleEdits<String> edits = AsyncScheduleEdits.of(source, "checks");
        edits.createTables().get(120, TimeUnit.SECONDS);
        failureOf(IllegalArgumentException.class, edits.edit("a", after -> after, Priority.NORMAL));
        edits.delete("none").get(120, TimeUnit.SECONDS);
        assertThrows(IllegalArgumentException.class, () -> AsyncScheduleEdits.of(source, "a; DROP TABLE b"));
        assertThrows(NullPointerException.class, () -> edits.delete(null));
        assertEquals("AsyncScheduleEdits of JdbcScheduleStore (table = checks, pollEdits = 5s)", edits.toString());
    }
}
