package guide.metrics

import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The first Kotlin example of docs/metrics.md. */
class AlertsTest {
    @Test
    fun uplink_fullForSixSeconds_raisesAnAlertAndClearsIt() = runTest {
        val alerts = ArrayList<String>()
        val uplink = Uplink(backgroundScope) { alerts += it }
        advanceTimeBy(1.seconds)
        uplink.slots.acquire(8)
        advanceTimeBy(4.seconds)
        assertEquals(listOf<String>(), alerts)
        advanceTimeBy(2.seconds)
        assertTrue(alerts.single().startsWith("UTILISATION of uplink raised: 1.0, bound = 0.9"), "$alerts")
        uplink.slots.release(8)
        advanceTimeBy(6.seconds)
        assertTrue(alerts.last().startsWith("UTILISATION of uplink cleared"), "$alerts")
    }
}
