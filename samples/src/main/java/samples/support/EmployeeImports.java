package samples.support;

import baton.parallel.Outcome;
import java.io.PrintStream;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletionException;

/** Imports employees twice, each time into a new database: once all rows are good, once the database refuses one. */
public final class EmployeeImports {
    private final EmployeeOptions options;
    private final PrintStream out;
    private final PrintStream err;

    EmployeeImports(EmployeeOptions options, PrintStream out, PrintStream err) {
        this.options = options;
        this.out = out;
        this.err = err;
    }

    /** The code that differs between the languages. */
    public interface Client {
        /** Inserts all employees, at most {@code limit} at a time; returns the ids of the rows, in their order. */
        List<Integer> insertAll(List<Employee> employees, EmployeeDatabase database, int limit);

        /** The same up to the first failure, with an outcome for each employee. */
        List<Outcome<Integer>> insertUntilFailure(List<Employee> employees, EmployeeDatabase database, int limit);
    }

    /** The exit code. */
    int run(Client client) {
        try {
            boolean all = insertAll(client);
            boolean some = insertUntilFailure(client);
            return all && some ? 0 : 1;
        } catch (SQLException | CompletionException failure) {
            err.println("cannot insert: " + message(Failures.cause(failure)));
            return 1;
        }
    }

    private boolean insertAll(Client client) throws SQLException {
        List<Employee> employees =
                Employee.read(options.employees(), Employee.NONE).toList();
        try (EmployeeDatabase database = new EmployeeDatabase(options.connections())) {
            List<Integer> ids = client.insertAll(employees, database, options.connections());
            boolean inOrder =
                    ids.equals(employees.stream().map(Employee::number).toList());
            out.println("All rows are good");
            Table.row(out, "employees", employees.size(), "");
            Table.row(out, "inserted", database.rows(), "counted by the database");
            Table.row(
                    out,
                    "ids",
                    ids.size(),
                    inOrder ? "in the order of the employees" : "not in the order of the employees");
            connections(database);
            return inOrder && database.rows() == employees.size() && isBounded(database);
        }
    }

    private boolean insertUntilFailure(Client client) throws SQLException {
        List<Employee> employees =
                Employee.read(options.employees(), options.failAt()).toList();
        try (EmployeeDatabase database = new EmployeeDatabase(options.connections())) {
            List<Outcome<Integer>> outcomes = client.insertUntilFailure(employees, database, options.connections());
            int inserted = count(outcomes, Outcome.Success.class);
            int failed = count(outcomes, Outcome.Failure.class);
            int notStarted = count(outcomes, Outcome.NotStarted.class);
            out.println("The row of employee " + options.failAt() + " is refused");
            Table.row(out, "employees", employees.size(), "");
            Table.row(out, "inserted", database.rows(), "counted by the database");
            Table.row(out, "failed", failed, reason(outcomes.get(options.failAt() - 1)));
            Table.row(out, "not started", notStarted, "");
            connections(database);
            return database.rows() == inserted
                    && failed == 1
                    && outcomes.size() == employees.size()
                    && inserted + failed + notStarted == employees.size()
                    && isBounded(database);
        }
    }

    private static int count(List<Outcome<Integer>> outcomes, Class<?> kind) {
        return (int) outcomes.stream().filter(kind::isInstance).count();
    }

    private static String reason(Outcome<Integer> outcome) {
        return outcome instanceof Outcome.Failure failure ? message(failure.getCause()) : "";
    }

    /** Without the statement, which H2 adds. */
    private static String message(Throwable failure) {
        return String.valueOf(failure.getMessage()).replaceFirst("(?s); SQL statement:.*", "");
    }

    private static boolean isBounded(EmployeeDatabase database) {
        return database.peak() <= database.maxConnections();
    }

    private void connections(EmployeeDatabase database) {
        Table.row(out, "connections", database.peak(), "at most, of " + database.maxConnections());
        out.println();
    }
}
