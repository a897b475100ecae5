package baton.parallel.contract

import baton.parallel.Outcome
import baton.parallel.getOrNull
import java.io.IOException
import kotlin.coroutines.cancellation.CancellationException
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource

/** One outcome for each element. */
interface MapOutcomes : MapFixture {
    @Test
    fun mapSettled_everyEnd_hasItsOutcomeAtItsIndex() = scene {
        val causes = listOf(IOException("io"), StackOverflowError("so"), CancellationException("c"))
        val outcomes =
            mapSettled(numbers(7), limit = 3) {
                delay(10L - it)
                when (it) {
                    1 -> throw causes[0]
                    2 -> throw causes[1]
                    3 -> throw causes[2]
                    4 -> withTimeout(1.milliseconds) { awaitCancellation() }
                    5 -> currentCoroutineContext().cancel().also { delay(1) }
                    else -> it
                }
            }
        assertEquals(Outcome.Success(0), outcomes[0])
        assertEquals(Outcome.Failure(causes[0]), outcomes[1])
        assertEquals(Outcome.Failure(causes[1]), outcomes[2])
        assertEquals(Outcome.Cancelled(causes[2]), outcomes[3])
        assertEquals(TimeoutCancellationException::class, (outcomes[4] as Outcome.Cancelled).cause::class)
        assertEquals(Outcome.Cancelled::class, outcomes[5]::class)
        assertEquals(Outcome.Success(6), outcomes[6])
        assertEquals(7, outcomes.size)
    }

    /** Of nine elements, two at a time, the odd ones fail, each before the even one that runs beside it has ended. */
    @ParameterizedTest
    @CsvSource("1, 2, 15", "2, 4, 22", "4, 8, 48", "5, 9, 67", "2147483647, 9, 67")
    fun mapSettled_maxFailures_startsNothingAfterThem(maxFailures: Int, expected: Int, end: Long) = scene {
        val count = 9
        val outcomes =
            mapSettled(numbers(count), limit = 2, maxFailures = maxFailures) {
                work { delay(if (it % 2 == 1) 5 else 15L + it) }
                if (it % 2 == 1) throw IOException("$it") else it
            }
        assertEquals(expected, started)
        // Results of a flow that wait for the one before them keep their places.
        if (ahead == 0) assertEquals(end, now)
        assertEquals(if (settlesRest) count else started, outcomes.size)
        for ((index, outcome) in outcomes.withIndex()) {
            when (outcome) {
                is Outcome.Success -> assertEquals(index, outcome.getOrNull())
                is Outcome.Failure -> assertEquals("$index", outcome.cause.message)
                else -> assertSame(Outcome.NotStarted, outcome)
            }
        }
        assertEquals(minOf(maxFailures, 4), outcomes.count { it is Outcome.Failure })
    }

    @Test
    fun mapSettled_cancelledOutcomes_areNoFailures() = scene {
        val outcomes =
            mapSettled(numbers(5), limit = 1, maxFailures = 1) {
                if (it < 4) throw CancellationException("$it") else it
            }
        assertEquals(List(4) { "$it" }, outcomes.take(4).map { (it as Outcome.Cancelled).cause.message })
        assertEquals(4, outcomes[4].getOrNull())
    }
}
