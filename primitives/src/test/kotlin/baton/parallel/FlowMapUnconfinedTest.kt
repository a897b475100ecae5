package baton.parallel

import java.io.IOException
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.asFlow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.test.UnconfinedTestDispatcher
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Maps of flows where emitter, source and workers resume each other in place, in the middle of a step. */
@OptIn(ExperimentalCoroutinesApi::class)
class FlowMapUnconfinedTest {
    private val numbers = (0..9).asFlow()
    private val disk = IOException("disk")

    /** The emitter took the outcome, and its place was used again, before the failure was counted. */
    @Test
    fun mapSettled_maxFailuresAreReached_startsNothingMore() =
        runTest(UnconfinedTestDispatcher()) {
            val outcomes =
                numbers.mapSettled(2, maxFailures = 1) { if (it == 0) throw disk.also { delay(10) } else it }.toList()
            assertEquals(listOf(Outcome.Failure(disk), Outcome.Success(1)), outcomes)
        }

    /** The closing of the places resumed the source before the reason was stored. */
    @Test
    fun mapSettled_stopsWhileTheSourceWaitsForAPlace_endsWithTheOutcomes() =
        runTest(UnconfinedTestDispatcher()) {
            val outcomes = mutableListOf<Outcome<Int>>()
            numbers
                .mapSettled(2, maxFailures = 1) { if (it == 2) throw disk.also { delay(10) } else it }
                .collect {
                    outcomes += it
                    if (it == Outcome.Success(0)) delay(100)
                }
            assertEquals(listOf(Outcome.Success(0), Outcome.Success(1), Outcome.Failure(disk)), outcomes)
        }

    @Test
    fun mapLimit_failsWhileTheSourceWaitsForAPlace_throwsTheFailureAlone() =
        runTest(UnconfinedTestDispatcher()) {
            val flow = numbers.mapLimit(2) { if (it == 2) throw disk.also { delay(10) } else it }
            val thrown = assertThrows<IOException> { flow.collect { if (it == 0) delay(100) } }
            assertSame(disk, thrown)
            assertEquals(emptyList<Throwable>(), disk.suppressed.toList())
        }
}
