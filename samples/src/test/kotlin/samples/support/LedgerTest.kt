package samples.support

import java.io.ByteArrayOutputStream
import java.io.PrintStream
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class LedgerTest {
    private val server = PageServer(PageServer.PAGES)
    private val written = ByteArrayOutputStream()
    private val ledger = Ledger(2, 4)

    @AfterEach fun close() = server.close()

    @Test
    fun pages_allAccountedFor_areAsExpected() {
        fetch("a", "b")
        ledger.aggregated("a")
        fetch("c")
        ledger.dropped("b")
        ledger.refused("c")

        assertTrue(report())
    }

    @Test
    fun page_beyondTheBound_isReported() {
        fetch("a", "b", "c")
        ledger.aggregated("a")
        ledger.dropped("b")
        ledger.dropped("c")

        assertFalse(report())
        assertTrue("  most pages in memory: 3, with a bound of 2" in written.toString(), written.toString())
    }

    @Test
    fun page_lost_isReported() {
        fetch("a", "b")
        ledger.aggregated("a")

        assertFalse(report())
        assertTrue("  lost or doubled: 1" in written.toString(), written.toString())
    }

    @Test
    fun page_droppedTwice_isReported() {
        fetch("a", "b")
        ledger.aggregated("a")
        ledger.dropped("b")
        ledger.refused("b")

        assertFalse(report())
        assertTrue("  lost or doubled: 1" in written.toString(), written.toString())
    }

    @Test
    fun waiterOrAggregatedPageTooMany_isNotAsExpected() {
        fetch("a")
        ledger.aggregated("a")

        assertTrue(report())
        assertFalse(report(waiters = 1))
        assertFalse(report(wanted = 2))
    }

    @Test
    fun stuck_completesAtTheBoundOrOnceAllAreFetched() {
        val full = ledger.stuck()
        fetch("a")
        assertFalse(full.isDone)
        fetch("b")
        assertTrue(full.isDone)

        ledger.aggregated("a")
        ledger.aggregated("b")
        val all = ledger.stuck()
        fetch("c")
        assertFalse(all.isDone)
        ledger.aggregated("c")
        fetch("d")
        assertTrue(all.isDone)
        assertTrue(ledger.stuck().isDone)
    }

    private fun fetch(vararg pages: String) = pages.forEach(ledger::fetched)

    private fun report(wanted: Int = 1, waiters: Int = 0) =
        ledger.report(PrintStream(written), "title", wanted, waiters, server)
}
