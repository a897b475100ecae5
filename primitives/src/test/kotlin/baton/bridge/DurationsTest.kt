package baton.bridge

import java.time.Duration
import kotlin.random.Random
import kotlin.time.toKotlinDuration
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class DurationsTest {
    private val dayNanos = 86_400_000_000_000L

    @Test
    fun text_ofUsualTimes_isKotlins() {
        assertEquals("50ms", textOf(Duration.ofMillis(50)))
        assertEquals("0s", textOf(Duration.ZERO))
        assertEquals("-1ns", textOf(Duration.ofNanos(-1)))
        assertEquals("-(2m 5s)", textOf(Duration.ofSeconds(-125)))
        val random = Random(7)
        repeat(10_000) {
            val time = Duration.ofNanos(random.nextLong(-4000, 4000) * random.nextLong(dayNanos / 4000))
            assertEquals(time.toKotlinDuration().toString(), textOf(time))
        }
    }

    @Test
    fun text_ofTimesThatKotlinRounds_isExact() {
        val years = Duration.ofDays(1_000_000)
        assertEquals("1000000d", textOf(years))
        assertEquals("-1000000d", textOf(years.negated()))
        assertEquals("1000000d 0h 0m 0.000000001s", textOf(years.plusNanos(1)))
        assertEquals("-(1000000d 0h 0m 0.000000001s)", textOf(years.plusNanos(1).negated()))
        assertEquals("-(999999d 23h 59m 59.999999999s)", textOf(years.negated().plusNanos(1)))
    }

    @Test
    fun text_ofTheLongestTimes_isExact() {
        assertEquals("106751991167300d 15h 30m 7s", textOf(Duration.ofSeconds(Long.MAX_VALUE)))
        assertEquals("106751991167300d 15h 30m 7.999999999s", textOf(Duration.ofSeconds(Long.MAX_VALUE, 999_999_999)))
        assertEquals("-(106751991167300d 15h 30m 8s)", textOf(Duration.ofSeconds(Long.MIN_VALUE)))
        assertEquals("-(106751991167300d 15h 30m 7.5s)", textOf(Duration.ofSeconds(Long.MIN_VALUE, 500_000_000)))
    }
}
