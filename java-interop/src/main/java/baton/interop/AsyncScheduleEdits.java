package baton.interop;

import baton.Priority;
import baton.scheduler.JdbcScheduleStore;
import baton.scheduler.KeyCodec;
import baton.scheduler.ScheduleEditor;
import baton.scheduler.Trigger;
import baton.scheduler.bridge.JdbcBridge;
import baton.scheduler.bridge.JdbcCalls;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
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
 * <p>Each call is one transaction, but for {@link #edit(Connection, Consumer)}. The calls run one after the other, and their futures complete with the exceptions of
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
        return edit(key, trigger, priority, null);
    }

    /** As {@link #edit(Object, Trigger, Priority)}, with up to 65,536 bytes for the runs of the entry; null for none. */
    public CompletableFuture<@Nullable Void> edit(K key, Trigger trigger, Priority priority, byte @Nullable [] data) {
        return calls.edit(
                Objects.requireNonNull(key, "key"),
                Objects.requireNonNull(trigger, "trigger"),
                Objects.requireNonNull(priority, "priority"),
                data);
    }

    /**
     * Edits entries in a transaction of the caller: the edits become true with its commit, and then reach the running
     * schedule as any other; after a rollback there were none. It blocks the calling thread, and neither commits nor
     * rolls back; see {@link JdbcScheduleStore}.
     *
     * <pre>{@code
     * connection.setAutoCommit(false);
     * insert(connection, order);
     * edits.edit(connection, it -> it.put("invoice " + order.id(), Triggers.at(tomorrow)));
     * connection.commit();
     * }</pre>
     *
     * @param connection one to the database of the tables, not in auto-commit mode
     * @param block collects the edits, which are written when it returns; nothing is written if it throws
     * @throws IllegalArgumentException if the connection is in auto-commit mode, or the database cannot hold a row
     * @throws IllegalStateException if the tables cannot be used, or have another version
     * @throws SQLException if the database fails; then the transaction must be rolled back
     */
    public void edit(Connection connection, Consumer<ScheduleEditor<K>> block) throws SQLException {
        calls.edit(Objects.requireNonNull(connection, "connection"), Objects.requireNonNull(block, "block"));
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
