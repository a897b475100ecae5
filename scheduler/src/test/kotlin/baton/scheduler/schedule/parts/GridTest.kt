package baton.scheduler.schedule.parts

import baton.scheduler.schedule.Grid
import baton.scheduler.schedule.Times
import java.math.BigInteger
import java.time.Instant
import kotlin.random.Random
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The arithmetic of due times, against whole numbers of any size. */
class GridTest {
    private val random = Random(5)

    private fun anyLong(bits: Int) = random.nextLong() shr (63 - random.nextInt(bits))

    private fun exact(index: Long, period: Long, phase: Long): BigInteger {
        val nanos = index.toBigInteger() * period.toBigInteger() + phase.toBigInteger()
        val (micros, rest) = nanos.divideAndRemainder(1000.toBigInteger())
        return if (rest.signum() > 0) micros + BigInteger.ONE else micros
    }

    @Test
    fun dueTimes_ofAnyPeriodAndTime_areThoseOfExactArithmetic() {
        repeat(200_000) {
            val period = anyLong(63).let { if (it == Long.MIN_VALUE) 1 else Math.abs(it) }.coerceAtLeast(1_000_000)
            val phase = Math.floorMod(random.nextLong(), period)
            val time = anyLong(60).coerceIn(Times.EARLIEST, Times.LATEST)
            val index = Grid.indexAt(time, period, phase)
            assertTrue(exact(index, period, phase) <= time.toBigInteger(), "$period $phase $time")
            assertTrue(exact(index + 1, period, phase) > time.toBigInteger(), "$period $phase $time")
            val bounds = BigInteger.valueOf(Times.EARLIEST)..BigInteger.valueOf(Times.LATEST)
            assertEquals(exact(index, period, phase).coerceIn(bounds).toLong(), Grid.timeOf(index, period, phase))
        }
    }

    @Test
    fun instants_areRoundedTowardsLateness() {
        val instant = Instant.ofEpochSecond(-5, 999_999_001)
        assertEquals(-4_000_001, Times.roundedDown(instant))
        assertEquals(-4_000_000, Times.roundedUp(instant))
        assertEquals(Instant.ofEpochSecond(-5, 999_999_000), Times.instantOf(-4_000_001))
        assertEquals(Times.LATEST to Times.EARLIEST, Times.roundedUp(Instant.MAX) to Times.roundedUp(Instant.MIN))
        assertEquals(Times.LATEST, Times.roundedUp(Times.LATEST, 60_000_000))
        assertEquals(listOf(10L, 10L, 20L, -10L), listOf(1L, 10L, 11L, -19L).map { Times.roundedUp(it, 10) })
    }
}
