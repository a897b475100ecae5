package samples

import java.lang.management.ManagementFactory
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeFalse
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD

/**
 * UptimeMonitor without options, which runs for 20 s. Its name brings it early in the alphabet, and so other classes
 * run beside it.
 */
@Timeout(300, threadMode = SEPARATE_THREAD)
class DefaultUptimeRunTest {
    @Test
    fun run_findsWhatTheServerDid_endsByItself() {
        val outcome = Twin.JAVA.start("UptimeMonitor").outcome()

        assertEquals("", outcome.err)
        assertEquals(0, outcome.exitCode)
        assertFalse('\u001b' in outcome.out, "no live block in a log")
        assumeFalse(isOverloaded(outcome), "other programs leave no time for 15,000 checks a minute: ${outcome.out}")
        val table = outcome.summary()
        assertTrue(table.getValue("checks") > 1000, outcome.out)
        assertTrue(table.getValue("peak at once") in 1..200, outcome.out)
        assertTrue("lag p50" in table && "lag p99" in table, outcome.out)
        assertEquals(18, table["down at the end"])
        // Ten are dead, eight hang, and twelve go down and come back.
        assertEquals(42, table["changes found"])
        assertTrue("the demo server made 42: the same" in outcome.out, outcome.out)
        assertTrue(table.getValue("store reads a minute") <= 6, outcome.out)
        assertTrue(table.getValue("store writes a minute") <= 30, outcome.out)
        for (change in listOf("dead-01 down", "hanging-01 down", "outage-12 down", "outage-12 up")) {
            assertEquals(1, outcome.out.lines().count { " s  $change" in it }, outcome.out)
        }
    }

    /** Both are needed: checks begin late because of a fault of the schedule, too. */
    private fun isOverloaded(outcome: Outcome): Boolean {
        val system = ManagementFactory.getOperatingSystemMXBean()
        val load = system.systemLoadAverage / system.availableProcessors
        return load > 3 && outcome.summary().getValue("lag p99") > 1_000
    }
}
