package samples.support;

import java.util.Iterator;
import java.util.List;

/**
 * The command line options of the insertion of employees.
 *
 * @param employees the number of employees.
 * @param connections the connections that the database accepts.
 * @param failAt the number of the employee whose row is refused in the second import.
 */
public record EmployeeOptions(int employees, int connections, int failAt) {
    public static final String HELP = """
            Inserts employees into a database in this program, each by a connection of its own. The database accepts
            a few connections at a time. All rows are good in the first import. One is refused in the second: no
            further insert is started, the running ones are awaited, and the report counts the rows.

            Options:
              --employees N      how many employees (default: 1000)
              --connections N    connections that the database accepts (default: 10)
              --fail-at N        the employee whose row is refused in the second import (default: the one in the middle)
              --help             this text

            Exit code: 0 if the first import inserted all and the second stopped as described, 1 if not, 2 for wrong usage.""";

    private static final int MAX_EMPLOYEES = 1_000_000;
    private static final int MAX_CONNECTIONS = 100;

    static EmployeeOptions parse(String[] args) throws UsageException {
        int employees = 1000;
        int connections = 10;
        int failAt = 0;
        Iterator<String> words = List.of(args).iterator();
        while (words.hasNext()) {
            String option = words.next();
            switch (option) {
                case "--employees" -> employees = Values.count(option, words, 1, MAX_EMPLOYEES);
                case "--connections" -> connections = Values.count(option, words, 1, MAX_CONNECTIONS);
                case "--fail-at" -> failAt = Values.count(option, words, 1, MAX_EMPLOYEES);
                default -> throw Values.unknown(option);
            }
        }
        if (failAt > employees) {
            throw new UsageException(
                    "--fail-at must be at most the number of employees, " + employees + ", not " + failAt);
        }
        return new EmployeeOptions(employees, connections, failAt == 0 ? (employees + 1) / 2 : failAt);
    }
}
