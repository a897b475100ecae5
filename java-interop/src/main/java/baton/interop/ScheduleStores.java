package baton.interop;

import baton.scheduler.InMemoryScheduleStore;
import baton.scheduler.JdbcScheduleStore;
import baton.scheduler.JournalScheduleStore;
import baton.scheduler.KeyCodec;
import baton.scheduler.ScheduleStore;
import baton.scheduler.bridge.JdbcBridge;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The stores of an {@link AsyncSchedule}. A store serves one schedule, which closes it at its end. */
public final class ScheduleStores {
    private ScheduleStores() {}

    /** Keeps the entries as long as the store object lives. */
    public static <K> ScheduleStore<K> inMemory() {
        return new InMemoryScheduleStore<>();
    }

    /** As {@link #journal(Path, KeyCodec)}, for keys that are strings. */
    public static ScheduleStore<String> journal(Path path) {
        return journal(path, KeyCodec.Companion.getSTRING());
    }

    /**
     * Keeps the entries in a file, which one process at a time may use; see {@link JournalScheduleStore} for what
     * survives a crash. The file is opened when the schedule starts.
     */
    public static <K> ScheduleStore<K> journal(Path path, KeyCodec<K> codec) {
        return new JournalScheduleStore<>(
                Objects.requireNonNull(path, "path"), Objects.requireNonNull(codec, "codec"), true);
    }

    /**
     * Creates the tables of {@link #jdbc}, before the first schedule starts on them. No effect if they are there, so a
     * program may call it at each start. The call blocks one of the threads that Kotlin has for that; {@link
     * AsyncScheduleEdits#createTables} does the same on an executor.
     *
     * <pre>{@code
     * ScheduleStores.createTables(dataSource, "jobs").join();
     * AsyncSchedule<String> schedule = AsyncSchedule.<String>blockingBuilder(due -> send(due.getKey()))
     *         .store(ScheduleStores.jdbc(dataSource, "jobs"))
     *         .start();
     * }</pre>
     *
     * @return fails with the exceptions of {@link JdbcScheduleStore}; cancelling it does not cancel the call
     * @throws IllegalArgumentException if the table's name has other characters than letters, digits and _
     */
    public static CompletableFuture<@Nullable Void> createTables(DataSource dataSource, String table) {
        return AsyncScheduleEdits.of(dataSource, table).createTables();
    }

    /** As {@link #jdbc(DataSource, String, KeyCodec)}, for keys that are strings. */
    public static ScheduleStore<String> jdbc(DataSource dataSource, String table) {
        return jdbc(dataSource, table, KeyCodec.Companion.getSTRING());
    }

    /**
     * Keeps the entries in tables of H2, SQLite or PostgreSQL, which {@link #createTables} creates and {@link
     * AsyncScheduleEdits} edits; see {@link JdbcScheduleStore} for the tables, the one owner, and what survives a crash. Edits of other programs are
     * looked for every 5 seconds, on PostgreSQL they arrive at once. Its calls block the threads that Kotlin has for
     * that.
     *
     * @throws IllegalArgumentException if the table's name has other characters than letters, digits and _
     */
    public static <K> ScheduleStore<K> jdbc(DataSource dataSource, String table, KeyCodec<K> codec) {
        return JdbcBridge.newJdbcStore(
                Objects.requireNonNull(dataSource, "dataSource"),
                Objects.requireNonNull(codec, "codec"),
                Objects.requireNonNull(table, "table"),
                null,
                null);
    }

    /**
     * As {@link #jdbc(DataSource, String, KeyCodec)}.
     *
     * @param pollEdits the time between two queries for the edits of other programs, at least 1 ms
     * @param executor runs the calls of the database, which block, one at a time; on PostgreSQL a second of its threads
     *     waits for notifications. With one thread a call may wait for a quarter of a second.
     * @throws IllegalArgumentException if the table's name is another, or pollEdits is too short
     */
    public static <K> ScheduleStore<K> jdbc(
            DataSource dataSource, String table, KeyCodec<K> codec, Duration pollEdits, Executor executor) {
        return JdbcBridge.newJdbcStore(
                Objects.requireNonNull(dataSource, "dataSource"),
                Objects.requireNonNull(codec, "codec"),
                Objects.requireNonNull(table, "table"),
                Objects.requireNonNull(pollEdits, "pollEdits"),
                Objects.requireNonNull(executor, "executor"));
    }
}
