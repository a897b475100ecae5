package samples.support

import baton.resilience.RetryAfter
import kotlin.time.Duration.Companion.seconds
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class ThrottleTest {
    private val throttle = Throttle()

    @Test
    fun refuse_givesSecondsAndADateByTurns_ofASecondOrLittleMore() {
        assertEquals("1", throttle.refuse(1))
        val date = throttle.refuse(2)
        assertTrue(date.endsWith(" GMT"), date)
        val wait = RetryAfter.parse(date)!!
        assertTrue(wait <= 1.2.seconds, "$wait")
        assertEquals("1", throttle.refuse(1))
    }

    @Test
    fun came_atOnce_isTooEarlyOnce_unlessNotRefused() {
        throttle.refuse(1)
        throttle.came(1)
        throttle.came(1)
        throttle.came(2)
        assertEquals(1, throttle.early())
    }
}
