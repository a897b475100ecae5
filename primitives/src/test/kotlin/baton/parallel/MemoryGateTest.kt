package baton.parallel

import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

class MemoryGateTest {
    private var used = 0L
    private val gate = MemoryGate(high = 0.8, low = 0.5, maxBytes = 1_000) { used }

    @Test
    fun isOpen_betweenLowAndHigh_staysAsItWas() {
        val readings = listOf(0L, 500, 800, 801, 800, 500, 499, 500, 800, 801, Long.MAX_VALUE, 0)
        val answers =
            readings.map { reading ->
                used = reading
                gate.isOpen
            }
        val open = listOf(true, true, true, false, false, false, true, true, true, false, false, true)
        assertEquals(open, answers)
    }

    @Test
    fun isOpen_highOfOne_closesOnlyAboveTheBound() {
        val full = MemoryGate(high = 1.0, low = 0.0, maxBytes = 1) { used }
        used = 1
        assertTrue(full.isOpen)
        used = 2
        assertFalse(full.isOpen)
        used = 0 // not below 0
        assertFalse(full.isOpen)
    }

    @Test
    fun awaitOpen_looksAtEachInterval() = runTest {
        used = 900
        var openedAt = -1L
        launch {
            gate.awaitOpen()
            openedAt = currentTime
        }
        testScheduler.advanceTimeBy(120.milliseconds)
        used = 499
        testScheduler.advanceTimeBy(1.seconds)
        assertEquals(150, openedAt)
    }

    @Test
    fun awaitOpen_open_doesNotWait() = runTest {
        gate.awaitOpen()
        assertEquals(0, currentTime)
    }

    @Test
    fun awaitOpen_cancelled_ends() = runTest {
        used = 900
        val waiter = launch { gate.awaitOpen() }
        runCurrent()
        waiter.cancel()
        runCurrent()
        assertTrue(waiter.isCompleted)
        assertEquals(0, currentTime)
    }

    @Test
    fun isOpen_usageThrows_isThrownAndChangesNothing() {
        val failure = IllegalStateException("no number")
        var fails = true
        val gate = MemoryGate { if (fails) throw failure else 0 }
        assertSame(failure, assertThrows<IllegalStateException> { gate.isOpen })
        fails = false
        assertTrue(gate.isOpen)
    }

    @Test
    fun toString_showsStateAndNumbers() {
        assertEquals("MemoryGate (open, used = 0 of 1000 bytes, high = 0.8, low = 0.5)", gate.toString())
        used = 801
        assertEquals("MemoryGate (closed, used = 801 of 1000 bytes, high = 0.8, low = 0.5)", gate.toString())
    }

    @ParameterizedTest
    @ValueSource(doubles = [Double.NEGATIVE_INFINITY, -1.0, 0.0, 1.0000001, Double.MAX_VALUE, Double.NaN])
    fun high_outOfBounds_isRefused(high: Double) =
        assertRefused("high = $high, must be above 0 and at most 1") { MemoryGate(high = high, low = 0.0) }

    @ParameterizedTest
    @ValueSource(doubles = [Double.NEGATIVE_INFINITY, -Double.MIN_VALUE, 0.8, 1.0, Double.NaN])
    fun low_outOfBounds_isRefused(low: Double) =
        assertRefused("low = $low, must be at least 0 and below high = 0.8") { MemoryGate(low = low) }

    @ParameterizedTest
    @ValueSource(longs = [Long.MIN_VALUE, -1, 0])
    fun maxBytes_below1_isRefused(maxBytes: Long) =
        assertRefused("maxBytes = $maxBytes, must be at least 1") { MemoryGate(maxBytes = maxBytes) }

    @ParameterizedTest
    @ValueSource(strings = ["-Infinity", "-1ns", "0s", "Infinity"])
    fun every_outOfBounds_isRefused(every: String) =
        assertRefused("every = $every, must be positive and finite") { MemoryGate(every = Duration.parse(every)) }

    private fun assertRefused(message: String, create: () -> MemoryGate) {
        assertEquals(message, assertThrows<IllegalArgumentException> { create() }.message)
    }

    @Test
    fun bounds_atTheirEdges_areAccepted() {
        MemoryGate(high = Double.MIN_VALUE, low = 0.0)
        MemoryGate(high = 1.0, low = 0.0, maxBytes = 1, every = 1.nanoseconds)
        assertTrue(MemoryGate(maxBytes = Long.MAX_VALUE) { 0 }.isOpen)
    }
}
