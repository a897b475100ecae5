package baton.distributed.jdbc;

import baton.distributed.StoredDocument;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The statements for a table of documents. Safe for use by several threads with connections of their own. */
public final class DocumentTable {
    /** The most characters of a key. */
    public static final int LONGEST_KEY = 512;

    private final String table;
    private final boolean mayCreate;

    /** Whether the database has NOTIFY. Others that speak PostgreSQL's protocol may lack it. */
    private volatile boolean canNotify;

    /**
     * The statements for that table.
     *
     * @param mayCreate whether it is created if it is missing
     */
    public DocumentTable(String table, boolean mayCreate) {
        this.table = table;
        this.mayCreate = mayCreate;
    }

    /** Whether {@link #write} rings. */
    public boolean canNotify() {
        return canNotify;
    }

    /** The statement that creates the table. */
    public static String createStatement(String table) {
        return "create table if not exists " + table + " (doc_key varchar(" + LONGEST_KEY
                + ") primary key, version bigint not null, text varchar(" + StoredDocument.MAX_LENGTH + ") not null)";
    }

    /**
     * Creates the table if it may, and checks that it has what the statements below rely on. For a new connection.
     *
     * @throws SQLException names what is missing
     */
    public void prepare(Connection connection) throws SQLException {
        if (mayCreate && !isThere(connection)) create(connection);
        validate(connection);
        canNotify = "PostgreSQL".equals(connection.getMetaData().getDatabaseProductName())
                && hasRows(connection, "select 1 from pg_proc where proname = 'pg_notify'");
    }

    private boolean isThere(Connection connection) throws SQLException {
        try {
            hasRows(connection, "select 1 from " + table + " where 1 = 0");
            return true;
        } catch (SQLException e) {
            if (isMissing(e)) return false;
            throw e;
        }
    }

    /** Of tables and columns: 42P01 and 42703 in PostgreSQL, 42S02, 42S04 and 42S22 in H2. */
    private static boolean isMissing(SQLException e) {
        String state = e.getSQLState();
        return state != null && (state.startsWith("42S") || state.equals("42P01") || state.equals("42703"));
    }

    private void create(Connection connection) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute(createStatement(table));
        } catch (SQLException e) {
            // Another member has created it at the same time: then PostgreSQL's "if not exists" fails.
            if (!isThere(connection)) throw e;
        }
    }

    private static boolean hasRows(Connection connection, String query) throws SQLException {
        try (var statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            return rows.next();
        }
    }

    private void validate(Connection connection) throws SQLException {
        if (!isThere(connection)) throw invalid("does not exist");
        validateText(connection, "doc_key", LONGEST_KEY);
        validateText(connection, "text", StoredDocument.MAX_LENGTH);
        int type = column(connection, "version", meta -> meta.getColumnType(1));
        if (type != Types.BIGINT) throw invalid("has a column version that is no bigint");
        if (!isUnique(connection)) throw invalid("has no primary key or unique index on doc_key alone");
    }

    private void validateText(Connection connection, String column, int length) throws SQLException {
        int most = column(connection, column, meta -> meta.getPrecision(1));
        if (most > 0 && most < length) {
            throw invalid("has a column " + column + " of " + most + " characters, must have " + length);
        }
    }

    private interface Question {
        int of(ResultSetMetaData meta) throws SQLException;
    }

    private int column(Connection connection, String column, Question question) throws SQLException {
        try (var statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("select " + column + " from " + table + " where 1 = 0")) {
            return question.of(rows.getMetaData());
        } catch (SQLException e) {
            if (isMissing(e)) throw invalid("has no column " + column);
            throw e;
        }
    }

    private SQLException invalid(String what) {
        return new SQLException("the table " + table + " " + what + "; it is created by: " + createStatement(table));
    }

    private boolean isUnique(Connection connection) throws SQLException {
        DatabaseMetaData meta = connection.getMetaData();
        int dot = table.indexOf('.');
        String schema = dot < 0 ? null : stored(meta, table.substring(0, dot));
        String uniqueIndex = null;
        int columns = 0;
        // Ordered by the index; the table may be in any schema of the search path.
        try (ResultSet rows = meta.getIndexInfo(null, schema, stored(meta, table.substring(dot + 1)), true, true)) {
            boolean isOfKey = false;
            while (rows.next()) {
                String index = rows.getString("INDEX_NAME");
                String column = rows.getString("COLUMN_NAME");
                if (index == null || column == null) continue;
                String schemaAndIndex = rows.getString("TABLE_SCHEM") + "." + index;
                if (!schemaAndIndex.equals(uniqueIndex)) {
                    if (isOfKey && columns == 1) return true;
                    uniqueIndex = schemaAndIndex;
                    columns = 0;
                }
                columns++;
                isOfKey = column.equalsIgnoreCase("doc_key");
            }
            return isOfKey && columns == 1;
        }
    }

    private static String stored(DatabaseMetaData meta, String name) throws SQLException {
        if (meta.storesUpperCaseIdentifiers()) return name.toUpperCase(Locale.ROOT);
        return meta.storesLowerCaseIdentifiers() ? name.toLowerCase(Locale.ROOT) : name;
    }

    /** The document of the key; empty if there is none. */
    public Optional<StoredDocument> read(Connection connection, String key) throws SQLException {
        String sql = "select version, text from " + table + " where doc_key = ?";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, key);
            try (ResultSet rows = statement.executeQuery()) {
                if (!rows.next()) return Optional.empty();
                return Optional.of(new StoredDocument(rows.getLong(1), rows.getString(2)));
            }
        }
    }

    /**
     * Writes the document if the key has the expected version, and notifies the channels in the same transaction.
     *
     * @param channels empty if the database has no NOTIFY
     */
    public boolean write(
            Connection connection,
            String key,
            long expected,
            StoredDocument next,
            Collection<String> channels,
            String payload)
            throws SQLException {
        String sql = expected == 0
                ? "insert into " + table + " (version, text, doc_key) values (?, ?, ?)"
                : "update " + table + " set version = ?, text = ? where doc_key = ? and version = ?";
        if (!channels.isEmpty()) sql = notifying(sql);
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            int last = 0;
            statement.setLong(++last, next.version());
            statement.setString(++last, next.text());
            statement.setString(++last, key);
            if (expected != 0) statement.setLong(++last, expected);
            if (channels.isEmpty()) return statement.executeUpdate() == 1;
            statement.setString(++last, payload);
            statement.setString(++last, String.join(" ", channels));
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next();
            }
        } catch (SQLException e) {
            if (expected == 0 && isDuplicate(e)) return false;
            throw e;
        }
    }

    private static String notifying(String write) {
        return "with written as (" + write + " returning doc_key)"
                + " select pg_notify(channel, ?) from written, unnest(string_to_array(?, ' ')) as channel";
    }

    private static boolean isDuplicate(SQLException e) {
        @Nullable String state = e.getSQLState();
        return state != null && state.startsWith("23");
    }

    /** Notifies the channel. */
    public static void notify(Connection connection, String channel, String payload) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("select pg_notify(?, ?)")) {
            statement.setString(1, channel);
            statement.setString(2, payload);
            statement.executeQuery().close();
        }
    }

    /** Removes the document if it has the expected version. */
    public boolean delete(Connection connection, String key, long expected) throws SQLException {
        String sql = "delete from " + table + " where doc_key = ? and version = ?";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, key);
            statement.setLong(2, expected);
            return statement.executeUpdate() == 1;
        }
    }

    /** The time of the database, in microseconds since 1970. */
    public static long now(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("select current_timestamp");
                ResultSet rows = statement.executeQuery()) {
            rows.next();
            Instant now = rows.getObject(1, OffsetDateTime.class).toInstant();
            return ChronoUnit.MICROS.between(Instant.EPOCH, now);
        }
    }
}
