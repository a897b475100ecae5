package samples

import baton.parallel.Outcome
import baton.parallel.mapLimit
import baton.parallel.mapSettled
import java.io.PrintStream
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.runInterruptible
import samples.support.Cli
import samples.support.Employee
import samples.support.EmployeeDatabase
import samples.support.EmployeeImports

/**
 * Inserts a thousand employees into a database that accepts ten connections. The first row that is refused stops the
 * import, and the report says what was done. `samples.java.EmployeeInsert` is the same in Java.
 */
object EmployeeInsert {
    private suspend fun insert(employee: Employee, database: EmployeeDatabase): Int =
        runInterruptible(Dispatchers.IO) { database.insert(employee) } // JDBC blocks.

    private object Client : EmployeeImports.Client {
        /** Throws the first failure when all that runs has ended. */
        override fun insertAll(employees: List<Employee>, database: EmployeeDatabase, limit: Int): List<Int> =
            runBlocking {
                employees.mapLimit(limit) { insert(it, database) }
            }

        /** Returns the failure, and what has become of the others. */
        override fun insertUntilFailure(
            employees: List<Employee>,
            database: EmployeeDatabase,
            limit: Int,
        ): List<Outcome<Int>> = runBlocking { employees.mapSettled(limit, maxFailures = 1) { insert(it, database) } }
    }

    /** Returns the exit code: 0 if the first import inserted all rows, and the second stopped at the first failure. */
    fun run(args: Array<String>, out: PrintStream, err: PrintStream): Int = Cli.runEmployees(args, out, err, Client)

    @JvmStatic fun main(args: Array<String>) = Cli.exit(run(args, System.out, System.err))
}
