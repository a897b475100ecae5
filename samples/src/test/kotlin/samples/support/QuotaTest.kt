package samples.support

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class QuotaTest {
    private var now = Long.MAX_VALUE - 1_000
    private val quota = Quota(200, 50) { now }

    private fun accepted(requests: Int): Int = (1..requests).count { quota.accepts() }

    @Test
    fun burst_isAcceptedAtOnce_andNotMore() {
        assertEquals(50, accepted(60))
    }

    @Test
    fun rate_afterTheBurst_isOneRequestInFiveMilliseconds_toTheNanosecond() {
        accepted(50)
        now += 4_999_999
        assertFalse(quota.accepts())
        now += 1
        assertTrue(quota.accepts())
        assertFalse(quota.accepts())
    }

    @Test
    fun pause_savesUpTheBurst_andNotMore() {
        accepted(50)
        now += 10_000_000_000
        assertEquals(50, accepted(60))
    }
}
