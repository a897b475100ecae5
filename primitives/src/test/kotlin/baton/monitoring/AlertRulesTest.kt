package baton.monitoring

import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

class AlertRulesTest {
    private fun assertRefused(message: String, create: () -> Any) {
        assertEquals(message, assertThrows(IllegalArgumentException::class.java) { create() }.message)
    }

    @Test
    fun rules_byDefault_areThoseOfTheConfiguration() {
        val rules = AlertRules()
        assertEquals(0.70, rules.utilisation)
        assertEquals(0.60, rules.clearBelow)
        assertEquals(5.seconds, rules.after)
        assertEquals(30.seconds, rules.longestWait)
        assertEquals(
            "AlertRules (utilisation = 0.7, clearBelow = 0.6, after = 5s, longestWait = 30s, longestRun = Infinity)",
            "$rules",
        )
    }

    @ParameterizedTest
    @ValueSource(doubles = [0.0, -0.1, 1.0000001, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY])
    fun utilisation_outOfItsBounds_isRefused(value: Double) {
        assertRefused("utilisation = $value, must be above 0.0 and at most 1.0") { AlertRules(utilisation = value) }
    }

    @ParameterizedTest
    @ValueSource(doubles = [-0.1, 0.71, Double.NaN, Double.POSITIVE_INFINITY])
    fun clearBelow_outOfItsBounds_isRefused(value: Double) {
        assertRefused("clearBelow = $value, must be at least 0.0 and at most 0.7, the utilisation") {
            AlertRules(clearBelow = value)
        }
    }

    @Test
    fun durations_outOfTheirBounds_areRefused() {
        assertRefused("after = -(1ns), must be at least 0s".replace("-(1ns)", "${-1.nanoseconds}")) {
            AlertRules(after = (-1).nanoseconds)
        }
        assertRefused("longestWait = 0s, must be above 0s") { AlertRules(longestWait = Duration.ZERO) }
        assertRefused("longestWait = -1s, must be above 0s") { AlertRules(longestWait = (-1).seconds) }
        assertRefused("longestRun = 0s, must be above 0s") { AlertRules(longestRun = Duration.ZERO) }
    }

    @Test
    fun numbers_atTheirBounds_areAccepted() {
        AlertRules(utilisation = 1.0, clearBelow = 1.0, after = Duration.ZERO, longestWait = 1.nanoseconds)
        AlertRules(utilisation = Double.MIN_VALUE, clearBelow = 0.0, Duration.INFINITE, Duration.INFINITE)
    }

    @Test
    fun usage_withANegativeNumber_isRefused() {
        assertRefused("inUse = -1, must be at least 0") { Usage(inUse = -1, capacity = 0) }
        assertRefused("capacity = -1, must be at least 0") { Usage(0, capacity = -1) }
        assertRefused("waiting = -1, must be at least 0") { Usage(0, 0, waiting = -1) }
        assertRefused("longestWait = -1s, must be at least 0s") { Usage(0, 0, longestWait = (-1).seconds) }
        assertRefused("peakWaiting = -1, must be at least 0") { Usage(0, 0, peakWaiting = -1) }
        assertRefused("longestRun = -1s, must be at least 0s") { Usage(0, 0, longestRun = (-1).seconds) }
    }

    @Test
    fun share_withAndWithoutCapacity_isANumber() {
        assertEquals(0.3, Usage(3, 10).share)
        assertEquals(1.5, Usage(15, 10).share)
        assertEquals(0.0, Usage(0, 0).share)
        assertEquals(1.0, Usage(1, 0).share)
        assertTrue(Usage(Long.MAX_VALUE, Long.MAX_VALUE).share == 1.0)
    }
}
