package baton.benchmarks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** A schedule without a store: each tick queries a table with an index on the due times. */
public final class PolledTable implements AutoCloseable {
    private final Connection connection;
    private final long period;

    public PolledTable(DataSource source, int entries, long period) throws SQLException {
        this.period = period;
        connection = source.getConnection();
        try (Statement statement = connection.createStatement()) {
            statement.execute("DROP TABLE IF EXISTS polled");
            statement.execute("CREATE TABLE polled (id VARCHAR(40) PRIMARY KEY, due BIGINT NOT NULL)");
            statement.execute("CREATE INDEX polled_due ON polled (due)");
        }
        connection.setAutoCommit(false);
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO polled VALUES (?, ?)")) {
            for (int entry = 0; entry < entries; entry++) {
                insert.setString(1, "check " + entry);
                insert.setLong(2, entry % period);
                insert.addBatch();
            }
            insert.executeBatch();
        }
        connection.commit();
        connection.setAutoCommit(true);
    }

    private List<String> due(long now) throws SQLException {
        List<String> due = new ArrayList<>();
        try (PreparedStatement select = connection.prepareStatement("SELECT id FROM polled WHERE due <= ?")) {
            select.setLong(1, now);
            try (ResultSet result = select.executeQuery()) {
                while (result.next()) due.add(result.getString(1));
            }
        }
        return due;
    }

    /** A transaction for each row, or one for all. Returns how many were due. */
    public int tick(long now, boolean isBatch) throws SQLException {
        connection.setAutoCommit(true);
        List<String> due = due(now);
        connection.setAutoCommit(!isBatch);
        try (PreparedStatement update = connection.prepareStatement("UPDATE polled SET due = ? WHERE id = ?")) {
            for (String id : due) {
                update.setLong(1, now + period);
                update.setString(2, id);
                if (isBatch) update.addBatch();
                else update.executeUpdate();
            }
            if (isBatch) {
                update.executeBatch();
                connection.commit();
            }
        }
        return due.size();
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
