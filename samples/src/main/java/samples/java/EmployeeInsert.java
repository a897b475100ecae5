package samples.java;

import baton.interop.Tasks;
import baton.parallel.Outcome;
import java.io.PrintStream;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import samples.support.Cli;
import samples.support.Employee;
import samples.support.EmployeeDatabase;
import samples.support.EmployeeImports;

/**
 * Inserts a thousand employees into a database that accepts ten connections. The first row that is refused stops the
 * import, and the report says what was done. {@code samples.EmployeeInsert} is the same in Kotlin.
 */
public final class EmployeeInsert {
    private EmployeeInsert() {}

    private static final class Client implements EmployeeImports.Client {
        /** Throws the first failure when all that runs has ended. */
        @Override
        public List<Integer> insertAll(List<Employee> employees, EmployeeDatabase database, int limit) {
            return withThreads(
                    limit,
                    threads -> Tasks.mapLimit(employees, limit, employee -> insert(employee, database, threads)));
        }

        /** Returns the failure, and what has become of the others. */
        @Override
        public List<Outcome<Integer>> insertUntilFailure(
                List<Employee> employees, EmployeeDatabase database, int limit) {
            return withThreads(
                    limit,
                    threads -> Tasks.mapSettled(employees, limit, 1, employee -> insert(employee, database, threads)));
        }

        private static CompletableFuture<Integer> insert(
                Employee employee, EmployeeDatabase database, ExecutorService threads) {
            return CompletableFuture.supplyAsync(
                    () -> {
                        try {
                            return database.insert(employee);
                        } catch (SQLException | InterruptedException failure) {
                            throw new CompletionException(failure);
                        }
                    },
                    threads);
        }

        private static <T> T withThreads(int count, Function<ExecutorService, CompletableFuture<T>> work) {
            ExecutorService threads = Executors.newFixedThreadPool(count); // JDBC blocks.
            try {
                return work.apply(threads).join();
            } finally {
                threads.shutdown();
            }
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
