package samples

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource
import samples.support.QuotaLimits

/** The second part of [BatchImport]. */
@Timeout(300, threadMode = SEPARATE_THREAD)
class QuotaImportTest {
    @ParameterizedTest
    @EnumSource
    fun limiterAndBreaker_keepTheQuota_sendFewCallsIntoTheOutage(twin: Twin) {
        val outcome = twin.quotaImport("--quota-records", "100", "--outage", "1000")

        assertEquals("", outcome.err)
        assertEquals(0, outcome.exitCode)
        assertFalse('\r' in outcome.out, "no progress line in a log")
        val (retries, limited) = outcome.tables()
        assertEquals(100, retries.getValue("arrived exactly once") + retries.getValue("failed"))
        assertTrue(retries.getValue("into the outage") > 0, outcome.out)
        assertTrue("openings" !in retries, outcome.out)
        assertEquals(100, limited["arrived exactly once"])
        assertEquals(0, limited["failed"])
        assertEquals(0, limited["with 429"])
        val openings = limited.getValue("openings")
        val most = QuotaLimits.FAILURES + QuotaLimits.UNDER_WAY - 1 + QuotaLimits.PROBES * openings
        assertTrue(openings >= 1 && limited.getValue("into the outage") in 1..most, outcome.out)
        for (table in listOf(retries, limited)) {
            val refused = table.getValue("with 429") + table.getValue("into the outage")
            assertEquals(table["calls"], table.getValue("arrived exactly once") + refused, outcome.out)
        }
    }

    @ParameterizedTest
    @EnumSource
    fun record_single_arrivesAtTheFirstCall(twin: Twin) {
        val outcome = twin.quotaImport("--quota-records", "1")

        assertEquals(0, outcome.exitCode)
        for (table in outcome.tables()) {
            assertEquals(1, table["arrived exactly once"])
            assertEquals(1, table["calls"])
        }
    }

    @ParameterizedTest
    @EnumSource
    fun attempts_one_recordsAreLost_isReported_exits1_leavesNoThread(twin: Twin) {
        val before = Thread.getAllStackTraces().keys

        val outcome = twin.quotaImport("--quota-records", "60", "--attempts", "1")

        val table = outcome.tables()[1]
        val arrived = table.getValue("arrived exactly once")
        assertTrue(arrived < 60, outcome.out)
        assertEquals(60 - arrived, table["failed"])
        assertEquals(0, table["retries"])
        assertEquals(
            listOf("$arrived of 60 records arrived", "$arrived of 60 records were answered with 200"),
            outcome.err.trim().lines().map { it.removePrefix("with a limiter and a breaker: ") },
        )
        assertEquals(1, outcome.exitCode)
        assertNoThreadLeft(before)
    }

    private fun Twin.quotaImport(vararg options: String): Outcome = batchImport.runHere("--part", "2", *options)
}
