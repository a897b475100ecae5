package samples.support;

/**
 * The command line options of the insertion of employees.
 *
 * @param employees the number of employees.
 * @param connections the connections that the database accepts.
 * @param failAt the number of the employee whose row is refused in the second import.
 */
public record EmployeeOptions(int employees, int connections, int failAt) {
    private static final int MAX_EMPLOYEES = 1_000_000;
    private static final int MAX_CONNECTIONS = 100;

    static CommandOptions command() {
        return new CommandOptions(
                        """
                Inserts employees into a database in this program, each by a connection of its own. The database accepts
                a few connections at a time. All rows are good in the first import. One is refused in the second: no
                further insert is started, the running ones are awaited, and the report counts the rows.
                """,
                        "Exit code: 0 if the first import inserted all and the second stopped as described, 1 if not, 2 for wrong usage.")
                .count("--employees", 1, MAX_EMPLOYEES, "how many employees (default: 1000)")
                .count("--connections", 1, MAX_CONNECTIONS, "connections that the database accepts (default: 10)")
                .count(
                        "--fail-at",
                        1,
                        MAX_EMPLOYEES,
                        "the employee whose row is refused in the second import (default: the one in the middle)");
    }

    static EmployeeOptions of(CommandOptions given) throws UsageException {
        int employees = given.value("--employees", 1000);
        int failAt = given.value("--fail-at", (employees + 1) / 2);
        if (failAt > employees) {
            throw new UsageException(
                    "--fail-at must be at most the number of employees, " + employees + ", not " + failAt);
        }
        return new EmployeeOptions(employees, given.value("--connections", 10), failAt);
    }
}
