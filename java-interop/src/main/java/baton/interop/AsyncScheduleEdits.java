package baton.interop;

import baton.Priority;
import baton.scheduler.JdbcScheduleStore;
import baton.scheduler.KeyCodec;
import baton.scheduler.Trigger;
import baton.scheduler.bridge.JdbcBridge;
import baton.scheduler.bridge.JdbcCalls;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Edits the entries of a schedule that runs on the tables of {@link ScheduleStores#jdbc}, in whichever program that is.
 *
 * <pre>{@code
 * AsyncScheduleEdits<String> edits = AsyncScheduleEdits.of(dataSource, "checks");
 * edits.createTables().join();
 * edits.edit("a", Triggers.every(Duration.ofMinutes(5)), Priority.NORMAL).join();
 * edits.delete("b").join();
 * edits.close().join();
 * }</pre>
 *
 * <p>Each call is one transaction. The calls run one after the other, and their futures complete with the exceptions of
 * {@link JdbcScheduleStore}. Cancelling a future cancels no call.
 *
 * @param <K> the keys of the entries
 */
public final class AsyncScheduleEdits<K> {
    private final JdbcScheduleStore<K> store;
    private final JdbcCalls<K> calls;

    private AsyncScheduleEdits(DataSource dataSource, String table, KeyCodec<K> codec, @Nullable Executor executor) {
        store = JdbcBridge.newJdbcStore(
                Objects.requireNonNull(dataSource, "dataSource"),
                Objects.requireNonNull(codec, "codec"),
                Objects.requireNonNull(table, "table"),
                null,
                executor);
        calls = new JdbcCalls<>(store);
    }

    /** As {@link #of(DataSource, String, KeyCodec)}, for keys that are strings. */
    public static AsyncScheduleEdits<String> of(DataSource dataSource, String table) {
        return of(dataSource, table, KeyCodec.Companion.getSTRING());
    }

    /**
     * Edits the tables of a name. Its calls block the threads that Kotlin has for that.
     *
     * @throws IllegalArgumentException if the table's name has other characters than letters, digits and _
     */
    public static <K> AsyncScheduleEdits<K> of(DataSource dataSource, String table, KeyCodec<K> codec) {
        return new AsyncScheduleEdits<>(dataSource, table, codec, null);
    }

    /** As {@link #of(DataSource, String, KeyCodec)}, with calls that block a thread of the executor. */
    public static <K> AsyncScheduleEdits<K> of(
            DataSource dataSource, String table, KeyCodec<K> codec, Executor executor) {
        return new AsyncScheduleEdits<>(dataSource, table, codec, Objects.requireNonNull(executor, "executor"));
    }

    /** Creates the tables that are not there. No effect if all are. */
    public CompletableFuture<@Nullable Void> createTables() {
        return calls.createTables();
    }

    /**
     * Writes an entry, new or in place of that with the same key. The future fails with an {@link
     * IllegalArgumentException} if the trigger has no text, because it is one of your own without a name.
     */
    public CompletableFuture<@Nullable Void> edit(K key, Trigger trigger, Priority priority) {
        return calls.edit(
                Objects.requireNonNull(key, "key"),
                Objects.requireNonNull(trigger, "trigger"),
                Objects.requireNonNull(priority, "priority"));
    }

    /** Removes an entry. No effect if there is none. */
    public CompletableFuture<@Nullable Void> delete(K key) {
        return calls.delete(Objects.requireNonNull(key, "key"));
    }

    /** Frees what is held of the database. */
    public CompletableFuture<@Nullable Void> close() {
        return calls.close();
    }

    @Override
    public String toString() {
        return "AsyncScheduleEdits of " + store;
    }
}
