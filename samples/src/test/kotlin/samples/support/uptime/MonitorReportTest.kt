package samples.support.uptime

import baton.Priority
import baton.scheduler.Schedule
import java.io.ByteArrayOutputStream
import java.io.IOException
import java.io.PrintStream
import java.net.ConnectException
import java.net.URI
import java.net.http.HttpTimeoutException
import java.time.Duration
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class MonitorReportTest {
    private val options = monitorOptions("--concurrency", "7")
    private val written = ByteArrayOutputStream()
    private val metrics = Schedule<String> {}.metrics
    private val log = report(isLive = false)
    private val one = endpoint("one")
    private val two = endpoint("two")

    @Test
    fun change_confirmed_isALineInALog() {
        log.edit(listOf(one, two))

        assertTrue(check(log, one, ConnectException()))
        assertFalse(check(log, one, HttpTimeoutException("late")))
        assertFalse(check(log, two, null))
        assertTrue(check(log, one, null))
        assertFalse(check(log, one, null))
        log.show(metrics)

        val lines = text().lines().map { it.substringAfter(" s  ") }
        assertEquals(listOf("one down (no connection)", "one up", ""), lines)
    }

    @Test
    fun edit_tellsWhatIsNew_andWhatIsGone() {
        log.edit(listOf(one, two))
        val other = Endpoint("two", two.url(), two.interval(), Priority.LOW, false)
        val three = endpoint("three")

        assertEquals(MonitorReport.Edit(listOf(other, three), setOf("one")), log.edit(listOf(other, three)))
        assertEquals(other, log.endpoint("two"))
        assertNull(log.endpoint("one"))
        assertEquals(MonitorReport.Edit(listOf(), setOf()), log.edit(listOf(other, three)))
    }

    @Test
    fun check_ofAnEndpointEditedMeanwhile_saysNothing() {
        log.edit(listOf(one))
        log.checkBegins(Duration.ZERO)
        log.edit(listOf(Endpoint("one", URI("http://fast.demo/other"), one.interval(), one.priority(), false)))

        assertFalse(log.checkEnds(one, IOException()))
    }

    @Test
    fun terminal_showsABlockInPlace_withTheLatestChanges() {
        val live = report(isLive = true)
        live.edit(listOf(one, two))
        check(live, one, null)
        live.checkBegins(Duration.ZERO)
        live.show(metrics)
        val first = text()
        repeat(2) { check(live, two, ConnectException()) }
        assertEquals(first, text(), "changes are in the block only")
        live.show(metrics)
        live.say("a line")

        val second = text().removePrefix(first)
        val head = "up 1, down %d, running 1 of 7, lag p50 0 ms, p99 0 ms\n"
        assertEquals(head.format(0), first.substringAfter(" s  "))
        val (status, change) = second.split(Regex("\\d\\.\\d s  ")).drop(1)
        assertTrue(second.startsWith("\u001b[1A\r\u001b[J"), second)
        assertEquals(head.format(1), status.trimEnd(' '))
        assertEquals("two down (no connection)\n\u001b[2A\r\u001b[Ja line\n", change)
    }

    @Test
    fun summary_namesEveryNumber_andComparesChanges() {
        DemoServer.start(Duration.ofSeconds(20)).use { server ->
            log.edit(listOf(one, two))
            check(log, one, null)
            repeat(2) { check(log, two, RuntimeException()) }

            assertFalse(log.sumUp(metrics, server))

            val table = text().substringAfter("\n\n")
            for (row in
                listOf(
                    "checks                        3",
                    "  failed                      2  2 x RuntimeException",
                    "up at the end                 1",
                    "down at the end               1",
                    "lag p50                       0  ms, from due to begun",
                    "lag p99                       0  ms",
                    "peak at once                  1  of 7",
                    "store reads a minute          0  polling every second: 60 queries for 120 rows",
                    "store writes a minute         0  polling: 120, one for each run",
                    "changes found                 1  the demo server made 0: NOT the same",
                )) assertTrue("$row\n" in table, "$row\n$table")
            assertTrue("two: 0 changes were made, 1 found\n" in table, table)
        }
    }

    @Test
    fun polling_costsByTheSumOfTheRates() {
        val tenThousand = PollingCost.of(List(10_000) { Duration.ofMinutes(2) })

        assertEquals(PollingCost(60, 5000), tenThousand)
        assertEquals("polling: 5,000, one for each run", tenThousand.writes())
        assertEquals(PollingCost(60, 61), PollingCost.of(listOf(Duration.ofSeconds(1), Duration.ofMinutes(1))))
    }

    private fun report(isLive: Boolean): MonitorReport {
        val out = PrintStream(written, true)
        return MonitorReport(options, out, out, isLive)
    }

    private fun text() = written.toString().replace(System.lineSeparator(), "\n")

    private fun endpoint(name: String) =
        Endpoint(name, URI("http://fast.demo/$name"), Duration.ofSeconds(60), Priority.NORMAL, false)

    private fun check(report: MonitorReport, endpoint: Endpoint, failure: Throwable?): Boolean {
        report.checkBegins(Duration.ZERO)
        return report.checkEnds(endpoint, failure)
    }
}
