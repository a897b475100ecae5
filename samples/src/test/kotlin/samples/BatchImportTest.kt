package samples

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.Arguments
import org.junit.jupiter.params.provider.Arguments.arguments
import org.junit.jupiter.params.provider.EnumSource
import org.junit.jupiter.params.provider.MethodSource

@Timeout(300, threadMode = SEPARATE_THREAD)
class BatchImportTest {
    @ParameterizedTest
    @EnumSource
    fun records_arriveOnceWithBatonOnly_neverBeforeTheirRetryAfter(twin: Twin) {
        val outcome = twin.batchImport.runHere("--part", "1", "--records", "600")

        assertEquals("", outcome.err)
        assertEquals(0, outcome.exitCode)
        assertFalse('\r' in outcome.out, "no progress line in a log")
        val (atOnce, withBaton) = outcome.tables()
        assertEquals(600, atOnce.getValue("answered with 200") + atOnce.getValue("failed"))
        assertTrue(atOnce.getValue("arrived exactly once") < 600, outcome.out)
        assertEquals(0, atOnce["retries"])
        assertEquals(600, withBaton["arrived exactly once"])
        assertEquals(600, withBaton["answered with 200"])
        assertEquals(0, withBaton["failed"])
        assertTrue(withBaton.getValue("retries") >= 20, outcome.out)
        assertEquals(0, withBaton["too early"])
        assertTrue("  600 saved\n" in outcome.out, outcome.out)
        assertTrue("With Baton, 64 records at a time, " in outcome.out, outcome.out)
        assertTrue("  pulled                      600  = 600 succeeded + 0 failed + 0 not started\n" in outcome.out)
        assertTrue(" x HTTP 429" in outcome.withBaton && " x connection lost" in outcome.withBaton, outcome.out)
        assertWeightInFlight(outcome, 32)
    }

    @ParameterizedTest
    @EnumSource
    fun limit_asHeavyAsALargeRecord_isTheWeightInFlight(twin: Twin) {
        val outcome = twin.batchImport.runHere("--part", "1", "--records", "40", "--limit", "5")

        assertEquals(0, outcome.exitCode)
        assertEquals(40, outcome.tables()[1]["arrived exactly once"])
        assertWeightInFlight(outcome, 5)
    }

    @ParameterizedTest
    @EnumSource
    fun record_single_arrives(twin: Twin) {
        val outcome = twin.batchImport.runHere("--part", "1", "--records", "1")

        assertEquals(0, outcome.exitCode)
        // All at once, it has a second, which is not enough on a loaded machine.
        assertEquals(1, outcome.tables()[1]["arrived exactly once"])
        assertTrue("  1 saved\n" in outcome.out, outcome.out)
    }

    @ParameterizedTest
    @EnumSource
    fun property_maxConcurrentTasks_boundsTheRecordsInFlight(twin: Twin) {
        val outcome =
            withProperty("import.maxConcurrentTasks", "1") { twin.batchImport.runHere("--part", "1", "--records", "8") }

        assertEquals("", outcome.err)
        assertEquals(0, outcome.exitCode)
        assertTrue("With Baton, 1 record at a time, " in outcome.out, outcome.out)
        // One large record, of 12 for all of them.
        assertWeightInFlight(outcome, 5)
    }

    @ParameterizedTest
    @MethodSource("wrongProperties")
    fun property_wrong_isRefusedWithItsKey_exits2(twin: Twin, key: String, value: String, message: String) {
        withProperty(key, value) { assertEquals(message, twin.batchImport.refusal("--part", "1")) }
    }

    @ParameterizedTest
    @EnumSource
    fun failures_tooMany_stopTheRest_eachRecordIsAccountedFor_exits1_leavesNoThread(twin: Twin) {
        val before = Thread.getAllStackTraces().keys

        val outcome =
            twin.batchImport.runHere("--part", "1", "--records", "300", "--attempts", "1", "--max-failures", "1")

        val table = outcome.tables()[1]
        val arrived = table.getValue("arrived exactly once")
        assertTrue(arrived < 300, outcome.out)
        val failed = table.getValue("failed")
        assertTrue(failed in 1..64, outcome.out)
        assertEquals(0, table["retries"])
        val saved = 300 - failed - outcome.notStarted
        assertTrue(outcome.notStarted > 0 && "= $saved succeeded + $failed failed + " in outcome.out, outcome.out)
        assertTrue("  $saved saved\n" in outcome.out, outcome.out)
        assertTrue(outcome.err.startsWith("incomplete: $arrived of 300 records arrived: "), outcome.err)
        assertTrue(outcome.err.endsWith(", ${outcome.notStarted} not started\n"), outcome.err)
        assertEquals(1, outcome.err.lines().count { it.isNotEmpty() })
        assertEquals(1, outcome.exitCode)
        assertNoThreadLeft(before)
    }

    @ParameterizedTest
    @EnumSource
    fun main_endsByItself(twin: Twin) {
        val small = arrayOf("--records", "50", "--quota-records", "20", "--outage", "50")

        val outcome = twin.start("BatchImport", *small).outcome()

        assertEquals("", outcome.err)
        assertEquals(0, outcome.exitCode)
        val (_, withBaton, _, withBreaker) = outcome.tables()
        assertEquals(50, withBaton["arrived exactly once"])
        assertEquals(20, withBreaker["arrived exactly once"])
    }

    @ParameterizedTest
    @MethodSource("wrongUsage")
    fun main_wrongUsage_printsOneLine_exits2(twin: Twin, args: List<String>, message: String) {
        assertEquals(message, twin.batchImport.refusal(*args.toTypedArray()))
    }

    @ParameterizedTest
    @EnumSource
    fun help_namesEveryOption_exits0(twin: Twin) =
        twin.batchImport.assertHelpNames(
            listOf("--part", "--records", "--limit", "--max-failures", "--quota-records", "--outage", "--attempts"),
            "--records",
            "0",
        )

    private val Outcome.withBaton: String
        get() = out.substringAfter("With Baton")

    private val Outcome.notStarted: Int
        get() = Regex("(\\d+) not started").find(withBaton)!!.groupValues[1].toInt()

    private fun <R> withProperty(key: String, value: String, block: () -> R): R {
        System.setProperty(key, value)
        try {
            return block()
        } finally {
            System.clearProperty(key)
        }
    }

    /** A request that has timed out in the client may still be in flight in the server, beside its successor. */
    private fun assertWeightInFlight(outcome: Outcome, limit: Int) {
        val peak = outcome.tables()[1].getValue("peak weight in flight")
        assertTrue(peak in 5..limit || " x timed out" in outcome.withBaton, outcome.out)
    }

    companion object {
        @JvmStatic
        fun wrongProperties(): List<Arguments> =
            Twin.entries.flatMap { twin ->
                listOf(
                    arguments(
                        twin,
                        "import.maxConcurrentTasks",
                        "0",
                        "import.maxConcurrentTasks = 0, must be at least 1",
                    ),
                    arguments(
                        twin,
                        "import.maxConcurrent",
                        "8",
                        "unknown key 'import.maxConcurrent'; the nearest known one is 'import.maxConcurrentTasks'",
                    ),
                )
            }

        @JvmStatic
        fun wrongUsage(): List<Arguments> =
            Twin.entries.flatMap { twin ->
                listOf(
                        listOf("--records", "0") to "--records must be a whole number from 1 to 100000, not '0'",
                        listOf("--records") to "--records needs a value, see --help",
                        listOf("--limit", "4") to "--limit must be a whole number from 5 to 40, not '4'",
                        listOf("--limit", "41") to "--limit must be a whole number from 5 to 40, not '41'",
                        listOf("--attempts", "0") to "--attempts must be a whole number from 1 to 100, not '0'",
                        listOf("--max-failures", "0") to
                            "--max-failures must be a whole number from 1 to 100000, not '0'",
                        listOf("--part", "3") to "--part must be a whole number from 1 to 2, not '3'",
                        listOf("--quota-records", "0") to
                            "--quota-records must be a whole number from 1 to 100000, not '0'",
                        listOf("--outage", "60001") to "--outage must be a whole number from 1 to 60000, not '60001'",
                        listOf("--fast") to "unknown option '--fast', see --help",
                    )
                    .map { (args, message) -> arguments(twin, args, message) }
            }
    }
}
