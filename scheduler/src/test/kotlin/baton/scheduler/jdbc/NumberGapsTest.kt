package baton.scheduler.jdbc

import kotlin.random.Random
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TestTimeSource
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class NumberGapsTest {
    private val time = TestTimeSource()
    private val gaps = NumberGaps(10.minutes, time)

    @Test
    fun numbersInAnyOrder_areEachSeenOnce_andSettleTheMark() {
        for (seed in 0 until 200) {
            val gaps = NumberGaps(10.minutes, time)
            val numbers = (1L..40L).shuffled(Random(seed))
            for ((i, number) in numbers.withIndex()) {
                assertTrue(gaps.see(number))
                assertFalse(gaps.see(number))
                val seen = numbers.take(i + 1).toSet()
                assertEquals((0L..40L).last { mark -> (1..mark).all { it in seen } }, gaps.mark)
                assertEquals(seen.max(), gaps.greatest)
                assertTrue((1L..40L).all { gaps.hasSeen(it) == (it in seen) })
            }
        }
    }

    @Test
    fun gap_isGivenUp_whenItIsOld() {
        for (number in listOf(1L, 3L)) gaps.see(number)
        time += 5.minutes
        gaps.see(6)
        time += 5.minutes - 1.seconds
        gaps.giveUpOld()
        assertEquals(1, gaps.mark)
        time += 1.seconds
        gaps.giveUpOld()
        assertEquals(3, gaps.mark)
        time += 5.minutes
        gaps.giveUpOld()
        assertEquals(6, gaps.mark)
    }

    @Test
    fun gap_splitByALateNumber_keepsItsAge() {
        gaps.see(1)
        gaps.see(9)
        time += 9.minutes
        gaps.see(5)
        time += 1.minutes
        gaps.giveUpOld()
        assertEquals(9, gaps.mark)
    }

    @Test
    fun reset_looksBackAThousandNumbers() {
        gaps.reset((5L..2_000L step 2).toList())
        assertFalse(gaps.hasSeen(1_998))
        assertFalse(gaps.hasSeen(1_000))
        assertTrue(gaps.hasSeen(998))
        gaps.reset(emptyList())
        assertEquals(0 to 0L, gaps.greatest.toInt() to gaps.mark)
    }
}
