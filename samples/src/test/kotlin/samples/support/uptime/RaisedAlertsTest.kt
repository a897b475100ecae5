package samples.support.uptime

import baton.interop.AsyncMonitor
import baton.monitoring.Alert
import java.time.Duration
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicLong
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout

@Timeout(300)
class RaisedAlertsTest {
    @Test
    fun alerts_raisedAndCleared_areNamed() {
        val seen = LinkedBlockingQueue<Alert>()
        val inUse = AtomicLong(72)
        val rules = AsyncMonitor.rules(0.70, 0.60, Duration.ZERO, Duration.ofSeconds(30))
        val alerts = RaisedAlerts()
        AsyncMonitor.start(Duration.ofMillis(1), rules, seen::add).use { monitor ->
            monitor.watch("checks") { AsyncMonitor.usage(inUse.get(), 100, 3, Duration.ofSeconds(31)) }
            val lines = List(2) { alerts.add(seen.next()) }
            assertEquals(setOf("alert: checks at 72 % of the limit", "alert: checks, longest wait 31 s"), lines.toSet())
            assertEquals(lines.map { it.removePrefix("alert: ") }, alerts.lines())

            inUse.set(40)
            assertEquals("alert over: checks at 72 % of the limit", alerts.add(seen.next()))
            assertEquals(listOf("checks, longest wait 31 s"), alerts.lines())
        }
    }

    private fun LinkedBlockingQueue<Alert>.next() = poll(120, TimeUnit.SECONDS) ?: throw AssertionError("no alert")
}
