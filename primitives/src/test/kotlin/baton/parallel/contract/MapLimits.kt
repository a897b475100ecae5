package baton.parallel.contract

import baton.sync.assertContains
import kotlin.random.Random
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource
import org.junit.jupiter.params.provider.ValueSource

/** The number of running elements, the time of the pulls, and the order of the results. */
interface MapLimits : MapFixture {
    /** A limit of 2 reached 7, and five elements with room for sixteen failed. */
    @ParameterizedTest
    @CsvSource("7, 2, 4", "5, 16, 1", "5, 5, 1", "6, 5, 2", "3, 1, 3", "5, 2147483647, 1", "0, 3, 0", "1, 1, 1")
    fun mapLimit_equalElements_takeAsManyRoundsAsTheLimitSays(count: Int, limit: Int, rounds: Int) = scene {
        assertEquals(List(count) { it }, mapLimit(numbers(count), limit) { work { it.also { delay(10) } } })
        assertEquals(10L * rounds, now)
        assertEquals(minOf(count, limit), peak)
        assertEquals(count, pulled)
    }

    /** The results came in the order in which the elements ended. */
    @Test
    fun mapLimit_ordered_resultsAreInTheOrderOfTheSource() = scene {
        val random = Random(1)
        val mapped = mapLimit(numbers(1_000), 7) { work { it.also { delay(random.nextLong(20)) } } }
        assertEquals(List(1_000) { it }, mapped)
        assertEquals(7, peak)
    }

    @Test
    fun mapLimit_nulls_areElementsAndResults() = scene {
        assertEquals(listOf(null, 1, null), mapLimit(sequenceOf(null, 1, null), 2) { it })
        assertEquals(listOf(null, null), mapLimit(sequenceOf(1, 2), 2) { null })
    }

    @Test
    fun mapLimit_elementIsPulled_onlyWhenThereIsAPlace() = scene {
        val job = test.launch { mapLimit(numbers, limit = 3) { work { delay(10) } } }
        for (round in 1..4) {
            delay(if (round == 1) 5 else 10)
            assertEquals(3 * round, started)
            assertPulled(started)
        }
        job.cancelAndJoin()
    }

    @Test
    fun mapLimit_insideMapLimit_multipliesTheLimits() = scene {
        val mapped =
            mapLimit(numbers(4), 2) { i -> mapLimit((0..2).asSequence(), 3) { j -> work { i * j.also { delay(5) } } } }
        assertEquals(List(4) { i -> List(3) { j -> i * j } }, mapped)
        assertEquals(6, peak)
        assertEquals(10, now)
    }

    @Test
    fun forEachLimit_allElements_areInFlightUpToTheLimit() = scene {
        val seen = mutableListOf<Int>()
        forEachLimit(numbers(10), limit = 4) { work { delay(10 - it.toLong()).also { _ -> seen += it } } }
        assertEquals(List(10) { it }, seen.sorted())
        assertEquals(4, peak)
    }

    @ParameterizedTest
    @ValueSource(ints = [Int.MIN_VALUE, -1, 0])
    fun call_badLimit_isRefusedBeforeAnythingIsPulled(bad: Int) = scene {
        val calls: List<suspend () -> Unit> =
            listOf(
                { mapLimit(numbers, bad) {} },
                { mapSettled(numbers, bad) {} },
                { forEachLimit(numbers, bad) {} },
                { mapSettled(numbers, 1, maxFailures = bad) {} },
            )
        for (call in calls) assertContains(assertThrows<IllegalArgumentException> { call() }.message, bad, "at least 1")
        assertEquals(0, pulled)
    }

    @Test
    fun forEachLimit_elementsThatEndAtOnce_areManyInNoTime() = scene {
        forEachLimit(numbers(5_000), limit = Int.MAX_VALUE) { work {} }
        assertEquals(5_000, started)
        assertEquals(0, now)
    }
}
