package samples

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.Arguments
import org.junit.jupiter.params.provider.EnumSource
import org.junit.jupiter.params.provider.MethodSource

@Timeout(300, threadMode = SEPARATE_THREAD)
class EmployeeInsertTest {
    @ParameterizedTest
    @EnumSource
    fun defaultRun_insertsAll_thenStopsAtTheRefusedRow_accountsForEveryRow(twin: Twin) {
        val outcome = twin.employeeInsert.runHere()

        assertEquals("", outcome.err)
        assertEquals(0, outcome.exitCode)
        val (good, refused) = outcome.tables()
        assertEquals(1000, good["inserted"])
        assertEquals(1000, good["ids"])
        assertTrue(good.getValue("connections") in 1..10, outcome.out)
        assertTrue("\nThe row of employee 500 is refused\n" in outcome.out, outcome.out)
        assertEquals(1, refused["failed"])
        assertEquals(999, refused.getValue("inserted") + refused.getValue("not started"))
        assertTrue(refused.getValue("inserted") >= 499, outcome.out)
        assertTrue(refused.getValue("connections") in 1..10, outcome.out)
    }

    @ParameterizedTest
    @EnumSource
    fun connection_single_insertsTheRowsBeforeTheRefusedOne(twin: Twin) {
        val outcome = twin.employeeInsert.runHere("--employees", "30", "--connections", "1", "--fail-at", "10")

        assertEquals(
            """
            All rows are good
              employees                    30
              inserted                     30  counted by the database
              ids                          30  in the order of the employees
              connections                   1  at most, of 1

            The row of employee 10 is refused
              employees                    30
              inserted                      9  counted by the database
              failed                        1  NULL not allowed for column "NAME"
              not started                  20
              connections                   1  at most, of 1


            """
                .trimIndent(),
            outcome.out,
        )
        assertEquals("", outcome.err)
        assertEquals(0, outcome.exitCode)
    }

    @ParameterizedTest
    @EnumSource
    fun main_endsByItself(twin: Twin) {
        val outcome = twin.start("EmployeeInsert", "--employees", "1").outcome()

        assertEquals("", outcome.err)
        assertEquals(0, outcome.exitCode)
        assertEquals(0, outcome.tables()[1]["inserted"])
    }

    @ParameterizedTest
    @MethodSource("wrongUsage")
    fun main_wrongUsage_printsOneLine_exits2(twin: Twin, args: List<String>, message: String) {
        assertEquals(message, twin.employeeInsert.refusal(*args.toTypedArray()))
    }

    @ParameterizedTest
    @EnumSource
    fun help_namesEveryOption_exits0(twin: Twin) =
        twin.employeeInsert.assertHelpNames(listOf("--employees", "--connections", "--fail-at"), "--employees", "0")

    companion object {
        private const val RANGE = "must be a whole number from 1 to"

        @JvmStatic
        fun wrongUsage(): List<Arguments> =
            forBoth(
                listOf("--employees", "0") to "--employees $RANGE 1000000, not '0'",
                listOf("--connections", "101") to "--connections $RANGE 100, not '101'",
                listOf("--fail-at", "0") to "--fail-at $RANGE 1000000, not '0'",
                listOf("--employees", "5", "--fail-at", "6") to
                    "--fail-at must be at most the number of employees, 5, not 6",
                listOf("--fail-at") to "--fail-at needs a value, see --help",
                listOf("all") to "unknown option 'all', see --help",
            )
    }
}
