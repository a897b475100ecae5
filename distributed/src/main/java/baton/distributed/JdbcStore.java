package baton.distributed;

import baton.distributed.jdbc.JdbcLane;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
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
 * <p><i>Connections.</i> Two, from the first use to the end: one for heartbeats, which therefore wait for no other work,
 * and one for the locks. Each has a daemon thread. They commit each statement; no transaction of the application is ever
 * joined. A pool must have room for them.
 *
 * <p><i>Bell.</i> The members of one JVM that share this object ring each other. Others look into the table every tenth of
 * a lease, while they wait or hold something.
 *
 * <p><i>Table.</i> {@code BATON_DOCUMENTS}, created at the first use if it is not there. The statement is
 * {@link #createStatement}, for those who create it themselves: see {@link #validating}.
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
    private static final int LONGEST_KEY = 512;

    private final String table;
    private final String label;
    private final boolean mayCreate;
    private final JdbcLane heartbeats;
    private final JdbcLane locks;
    private final Bells bells = new Bells();
    private final ReentrantLock creating = new ReentrantLock();

    private volatile boolean isPrepared;

    private JdbcStore(JdbcLane.Connections source, String label, String table, boolean mayCreate) {
        if (!NAME.matcher(table).matches()) {
            throw new IllegalArgumentException("table = " + table + ", must match " + NAME);
        }
        this.table = table;
        this.label = label;
        this.mayCreate = mayCreate;
        heartbeats = new JdbcLane(label, "baton-store-heartbeats", source);
        locks = new JdbcLane(label, "baton-store-locks", source);
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

    /** A store in a table that was created before, by {@link #createStatement}. Without it all calls fail. */
    public static JdbcStore validating(DataSource dataSource, String table) {
        return new JdbcStore(sourceOf(dataSource), "JdbcStore (" + table + ")", table, false);
    }

    /**
     * A store in a file of H2, whose driver must be there. The JVMs of one machine may open the same file: the first one
     * serves the others, so open it in the one that lives longest.
     *
     * @param file on a local disk, without the suffix that H2 appends
     */
    public static JdbcStore h2(Path file) {
        String url = "jdbc:h2:file:" + file.toAbsolutePath() + ";AUTO_SERVER=TRUE";
        return new JdbcStore(() -> DriverManager.getConnection(url), "JdbcStore (" + file + ")", TABLE, true);
    }

    /** The statement that creates the table. */
    public static String createStatement(String table) {
        return "create table if not exists " + table + " (doc_key varchar(" + LONGEST_KEY
                + ") primary key, version bigint not null, text varchar(" + StoredDocument.MAX_LENGTH + ") not null)";
    }

    private <T extends @Nullable Object> CompletionStage<T> submit(String key, JdbcLane.Work<T> work) {
        JdbcLane lane = key.contains(":member:") || key.endsWith(":epoch") ? heartbeats : locks;
        return lane.submit(connection -> {
            prepare(connection);
            try {
                return work.run(connection);
            } catch (SQLException e) {
                isPrepared = false; // the table may be gone
                throw e;
            }
        });
    }

    private void prepare(Connection connection) throws SQLException {
        if (isPrepared) return;
        creating.lock();
        try {
            if (isPrepared) return;
            if (mayCreate && !isThere(connection)) {
                try (var statement = connection.createStatement()) {
                    statement.execute(createStatement(table));
                }
            }
            isPrepared = true;
        } finally {
            creating.unlock();
        }
    }

    private boolean isThere(Connection connection) throws SQLException {
        try (var statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select count(*) from " + table + " where 1 = 0")) {
            return rows.next();
        } catch (SQLException e) {
            String state = e.getSQLState();
            if (state != null && state.startsWith("42")) return false;
            throw e;
        }
    }

    @Override
    public CompletionStage<Optional<StoredDocument>> read(String key) {
        return submit(key, connection -> read(connection, key));
    }

    private Optional<StoredDocument> read(Connection connection, String key) throws SQLException {
        String sql = "select version, text from " + table + " where doc_key = ?";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, key);
            try (ResultSet rows = statement.executeQuery()) {
                if (!rows.next()) return Optional.empty();
                return Optional.of(new StoredDocument(rows.getLong(1), rows.getString(2)));
            }
        }
    }

    @Override
    public CompletionStage<CasAnswer> compareAndSet(
            String key, long expected, StoredDocument next, Collection<String> rung) {
        if (key.length() > LONGEST_KEY) {
            throw new IllegalArgumentException(
                    "key has " + key.length() + " characters, must have at most " + LONGEST_KEY);
        }
        if (next.version() <= expected) {
            throw new IllegalArgumentException("next.version = " + next.version() + ", must be above " + expected);
        }
        return submit(key, connection -> {
            boolean isStored = expected == 0 ? insert(connection, key, next) : update(connection, key, expected, next);
            if (!isStored) return CasAnswer.conflict(read(connection, key));
            bells.ring(rung, key);
            return CasAnswer.stored();
        });
    }

    private boolean insert(Connection connection, String key, StoredDocument next) throws SQLException {
        String sql = "insert into " + table + " (doc_key, version, text) values (?, ?, ?)";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, key);
            statement.setLong(2, next.version());
            statement.setString(3, next.text());
            statement.executeUpdate();
            return true;
        } catch (SQLException e) {
            String state = e.getSQLState();
            if (state != null && state.startsWith("23")) return false; // there is one
            throw e;
        }
    }

    private boolean update(Connection connection, String key, long expected, StoredDocument next) throws SQLException {
        String sql = "update " + table + " set version = ?, text = ? where doc_key = ? and version = ?";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setLong(1, next.version());
            statement.setString(2, next.text());
            statement.setString(3, key);
            statement.setLong(4, expected);
            return statement.executeUpdate() == 1;
        }
    }

    @Override
    public CompletionStage<Boolean> delete(String key, long expected) {
        return submit(key, connection -> {
            String sql = "delete from " + table + " where doc_key = ? and version = ?";
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                statement.setString(1, key);
                statement.setLong(2, expected);
                return statement.executeUpdate() == 1;
            }
        });
    }

    @Override
    public CompletionStage<Long> now() {
        return submit("", connection -> {
            try (PreparedStatement statement = connection.prepareStatement("select current_timestamp");
                    ResultSet rows = statement.executeQuery()) {
                rows.next();
                Instant now = rows.getObject(1, OffsetDateTime.class).toInstant();
                return ChronoUnit.MICROS.between(Instant.EPOCH, now);
            }
        });
    }

    @Override
    public AutoCloseable listen(String topic, Consumer<String> bell) {
        return bells.listen(topic, bell);
    }

    @Override
    public boolean ringsEveryBell() {
        return false;
    }

    /** Closes the two connections, once what has been asked for has ended. All later calls fail. */
    @Override
    public void close() {
        heartbeats.close();
        locks.close();
    }

    @Override
    public String toString() {
        return label;
    }
}
