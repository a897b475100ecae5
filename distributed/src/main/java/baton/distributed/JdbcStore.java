package baton.distributed;

import baton.distributed.jdbc.DocumentTable;
import baton.distributed.jdbc.JdbcLane;
import baton.distributed.jdbc.PostgresBell;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A store in a table of a database: H2, PostgreSQL.
 *
 * <pre>{@code
 * CoordinationStore store = new JdbcStore(dataSource);
 * CoordinationStore embedded = JdbcStore.h2(Path.of("/var/lib/shop/locks"));
 * }</pre>
 *
 * <p><i>Connections.</i> From the first use to the end: one for heartbeats, which therefore wait for no other work, one
 * for the locks, and with PostgreSQL one for the bell. Each has a daemon thread. They commit each statement; no
 * transaction of the application is ever joined. A pool must have room for them.
 *
 * <p><i>Bell.</i> The members of one JVM that share this object ring each other. Members in other JVMs are rung by
 * PostgreSQL's NOTIFY, if its driver is used and a pool lets its connections be unwrapped. Everywhere else, behind a
 * pooler in transaction mode, and while the connection of the bell is lost, members look into the table every tenth of a
 * lease, while they wait or hold something. A loss is reported once, to the thread's handler of uncaught exceptions, and
 * the bell tries again after at most a minute.
 *
 * <p><i>Table.</i> {@code BATON_DOCUMENTS}, created at the first use if it is not there. The statement is
 * {@link #createStatement}, for a table that is created beforehand: see {@link #validating}. A table that lacks what is
 * needed fails all calls with an error that names it.
 *
 * <p><i>First use.</i> A table without documents may have lost them: a cluster grants nothing from it for one lease.
 *
 * <p><i>Durability.</i> That of the database. A standby that takes over without the last writes of its primary may grant a
 * lock twice, for up to a third of a lease.
 */
public final class JdbcStore implements CoordinationStore {
    /** The name of the table by default. */
    public static final String TABLE = "BATON_DOCUMENTS";

    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)?");

    private final String label;
    private final DocumentTable table;
    private final JdbcLane heartbeats;
    private final JdbcLane locks;
    private final Bells bells = new Bells();
    private final PostgresBell bell;

    private JdbcStore(JdbcLane.Connections source, String label, String name, boolean mayCreate) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("table = " + name + ", must match " + NAME);
        }
        this.label = label;
        table = new DocumentTable(name, mayCreate);
        heartbeats = new JdbcLane(label, "baton-store-heartbeats", source, this::prepare);
        locks = new JdbcLane(label, "baton-store-locks", source, this::prepare);
        bell = new PostgresBell(
                label, name, source, bells::topics, (topic, key) -> bells.ring(List.of(topic), key), this::notify);
    }

    /** A store in the table {@link #TABLE}. Does no I/O. */
    public JdbcStore(DataSource dataSource) {
        this(dataSource, TABLE);
    }

    /**
     * A store in that table.
     *
     * @param table letters, digits and underscores, perhaps after the name of a schema and a dot
     */
    public JdbcStore(DataSource dataSource, String table) {
        this(sourceOf(dataSource), "JdbcStore (" + table + ")", table, true);
    }

    private static JdbcLane.Connections sourceOf(DataSource dataSource) {
        return Objects.requireNonNull(dataSource, "dataSource")::getConnection;
    }

    /**
     * A store in a table that was created before, by {@link #createStatement}: it needs no right to create one. While the
     * table, one of its columns or its primary key is missing, all calls fail with an error that says so.
     */
    public static JdbcStore validating(DataSource dataSource, String table) {
        return new JdbcStore(sourceOf(dataSource), "JdbcStore (" + table + ")", table, false);
    }

    /**
     * A store in a file of H2, whose driver must be there. The JVMs of one machine may use the same file: the first one
     * that does serves the others, so it should be the one that lives longest, such as their parent. If that one is
     * killed, the next call of another JVM makes that the server.
     *
     * @param file on a local disk, without the suffix that H2 appends
     */
    public static JdbcStore h2(Path file) {
        String url = "jdbc:h2:file:" + file.toAbsolutePath() + ";AUTO_SERVER=TRUE";
        return new JdbcStore(() -> DriverManager.getConnection(url), "JdbcStore (" + file + ")", TABLE, true);
    }

    /** The statement that creates the table. */
    public static String createStatement(String table) {
        return DocumentTable.createStatement(table);
    }

    private void prepare(Connection connection) throws SQLException {
        table.prepare(connection);
        startBell();
    }

    /** Once there is something to hear, and the database is known. */
    private void startBell() {
        if (table.canNotify() && !bells.topics().isEmpty()) bell.start();
    }

    private CompletionStage<?> notify(String channel, String payload) {
        return locks.submit(connection -> {
            DocumentTable.notify(connection, channel, payload);
            return true;
        });
    }

    private <T extends @Nullable Object> CompletionStage<T> submit(String key, JdbcLane.Work<T> work) {
        if (key.indexOf(0) >= 0) throw new IllegalArgumentException("key = " + key + ", must have no character 0");
        JdbcLane lane = key.contains(":member:") || key.endsWith(":epoch") ? heartbeats : locks;
        return lane.submit(work);
    }

    @Override
    public CompletionStage<Optional<StoredDocument>> read(String key) {
        return submit(key, connection -> table.read(connection, key));
    }

    @Override
    public CompletionStage<CasAnswer> compareAndSet(
            String key, long expected, StoredDocument next, Collection<String> rung) {
        if (key.length() > DocumentTable.LONGEST_KEY) {
            throw new IllegalArgumentException(
                    "key has " + key.length() + " characters, must have at most " + DocumentTable.LONGEST_KEY);
        }
        if (next.version() <= expected) {
            throw new IllegalArgumentException("next.version = " + next.version() + ", must be above " + expected);
        }
        return submit(key, connection -> {
            List<String> channels =
                    table.canNotify() ? rung.stream().map(bell::channelOf).toList() : List.of();
            while (!table.write(connection, key, expected, next, channels, bell.payloadOf(key))) {
                Optional<StoredDocument> current = table.read(connection, key);
                // A document that was in the way of a first write and is gone: no answer fits both, so it is repeated.
                if (expected != 0 || current.isPresent()) return CasAnswer.conflict(current);
            }
            bells.ring(rung, key);
            return CasAnswer.stored();
        });
    }

    @Override
    public CompletionStage<Boolean> delete(String key, long expected) {
        return submit(key, connection -> table.delete(connection, key, expected));
    }

    @Override
    public CompletionStage<Long> now() {
        return submit("", DocumentTable::now);
    }

    @Override
    public AutoCloseable listen(String topic, Consumer<String> listener) {
        AutoCloseable listening = bells.listen(topic, listener);
        startBell();
        bell.topicsChanged();
        return () -> {
            listening.close();
            bell.topicsChanged();
        };
    }

    /** True while a NOTIFY of PostgreSQL is heard. */
    @Override
    public boolean ringsEveryBell() {
        return bell.hearsAll();
    }

    /**
     * Closes the connections, once what has been asked for has ended, and waits for that: for some seconds at most. All
     * later calls fail.
     */
    @Override
    public void close() {
        bell.close();
        heartbeats.close();
        locks.close();
    }

    @Override
    public String toString() {
        return label;
    }
}
