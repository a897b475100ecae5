package samples.support;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.h2.jdbcx.JdbcDataSource;

/** A table of employees in memory, in a database that refuses more than so many connections at a time. */
public final class EmployeeDatabase implements AutoCloseable {
    /** The time of an insert into a database on another machine. */
    private static final long ROUND_TRIP_MILLIS = 2;

    private final JdbcDataSource database = new JdbcDataSource();
    private final int maxConnections;
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicInteger peak = new AtomicInteger();

    /** Keeps the database alive, which ends with its last connection. It is not one of the counted connections. */
    private final Connection owner;

    EmployeeDatabase(int maxConnections) throws SQLException {
        this.maxConnections = maxConnections;
        database.setURL("jdbc:h2:mem:" + UUID.randomUUID());
        owner = database.getConnection();
        try (Statement statement = owner.createStatement()) {
            statement.execute("CREATE TABLE employee (id INT PRIMARY KEY, name VARCHAR NOT NULL)");
        }
    }

    /** Inserts a row by a connection of its own, and returns its id. Blocks the calling thread. */
    public int insert(Employee employee) throws SQLException, InterruptedException {
        int now = connections.incrementAndGet();
        peak.accumulateAndGet(now, Math::max);
        try {
            if (now > maxConnections) throw new SQLException("more than " + maxConnections + " connections");
            try (Connection connection = database.getConnection();
                    PreparedStatement insert = connection.prepareStatement("INSERT INTO employee VALUES (?, ?)")) {
                insert.setInt(1, employee.number());
                insert.setString(2, employee.name());
                insert.executeUpdate();
                Thread.sleep(ROUND_TRIP_MILLIS);
            }
            return employee.number();
        } finally {
            connections.decrementAndGet();
        }
    }

    /** The number of rows in the table. */
    int rows() throws SQLException {
        try (Statement statement = owner.createStatement();
                ResultSet result = statement.executeQuery("SELECT COUNT(*) FROM employee")) {
            result.next();
            return result.getInt(1);
        }
    }

    /** The greatest number of connections at a time. */
    int peak() {
        return peak.get();
    }

    int maxConnections() {
        return maxConnections;
    }

    @Override
    public void close() throws SQLException {
        owner.close();
    }
}
