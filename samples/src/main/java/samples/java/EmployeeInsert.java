package samples.java;

import baton.interop.Tasks;
import baton.parallel.Outcome;
import java.io.PrintStream;
import java.util.List;
import samples.support.Cli;
import samples.support.Employee;
import samples.support.EmployeeDatabase;
import samples.support.EmployeeImports;

/**
 * Imports a thousand employees twice into a database that accepts ten connections: once with good rows alone, once up
 * to a row that the database refuses. A report counts the rows that were inserted, failed, and were not started. {@code
 * samples.EmployeeInsert} is the same in Kotlin.
 */
public final class EmployeeInsert {
    private EmployeeInsert() {}

    /** JDBC blocks, so the calls run on threads that may block. */
    private static final class Client implements EmployeeImports.Client {
        /** Throws the first failure when all running inserts have ended. */
        @Override
        public List<Integer> insertAll(List<Employee> employees, EmployeeDatabase database, int limit)
                throws Exception {
            return Tasks.blocking().mapLimit(employees, limit, database::insert);
        }

        /** Returns an outcome for each employee, the failure included. */
        @Override
        public List<Outcome<Integer>> insertUntilFailure(List<Employee> employees, EmployeeDatabase database, int limit)
                throws InterruptedException {
            return Tasks.blocking().mapSettled(employees, limit, 1, database::insert);
        }
    }

    /** Returns the exit code: 0 if the first import inserted all rows, and the second stopped at the first failure. */
    public static int run(String[] args, PrintStream out, PrintStream err) {
        return Cli.runEmployees(args, out, err, new Client());
    }

    public static void main(String[] args) {
        Cli.exit(run(args, System.out, System.err));
    }
}
