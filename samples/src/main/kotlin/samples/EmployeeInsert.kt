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
 * Imports a thousand employees twice into a database that accepts ten connections: once with good rows alone, once up
 * to a row that the database refuses. A report counts the rows that were inserted, failed, and were not started.
 * `samples.java.EmployeeInsert` is the same in Java.
 */
object EmployeeInsert {
    private suspend fun insert(employee: Employee, database: EmployeeDatabase): Int =
        runInterruptible(Dispatchers.IO) { database.insert(employee) } // JDBC blocks.

    private object Client : EmployeeImports.Client {
        /** Throws the first failure when all running inserts have ended. */
        override fun insertAll(employees: List<Employee>, database: EmployeeDatabase, limit: Int): List<Int> =
            runBlocking {
                employees.mapLimit(limit) { insert(it, database) }
            }

        /** Returns an outcome for each employee, the failure included. */
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
