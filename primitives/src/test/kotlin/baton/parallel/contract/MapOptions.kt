package baton.parallel.contract

import baton.parallel.Outcome
import baton.sync.assertContains
import java.io.IOException
import kotlin.coroutines.cancellation.CancellationException
import kotlin.random.Random
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.cancel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource
import org.junit.jupiter.params.provider.ValueSource

/**
 * The options of maps over coroutines alone: results as they come, weights, cancelling the running elements, callers
 * that are cancelled with an exception, and elements that cancel their own job.
 */
interface MapOptions : MapFailures, MapCancellation {
    override fun calls(scene: MapScene, transform: suspend (Int) -> Unit): List<suspend () -> Any> =
        with(scene) {
            super.calls(scene, transform) +
                listOf(
                    { mapLimit(numbers, 3, ordered = false, cancelRunning = true) { work { transform(it) } } },
                    { mapLimit(numbers, 3, weight = { 1 + it % 3 }) { work { transform(it) } } },
                )
        }

    @Test fun cancelRunning_failure_endsTheCallAtOnce() = scene { assertFailureEnds(10, cancelRunning = true) }

    @Test fun mapLimit_unorderedFailures_areSuppressedInTheFirst() = scene { assertSuppressed(ordered = false) }

    @Test fun mapLimit_weightedMapperThrowsAtOnce_leaksNoPlace() = scene { assertLeaksNoPlace { 2 } }

    @Test
    fun mapLimit_unordered_resultsAreInTheOrderOfTheirEnds() = scene {
        val mapped = mapLimit(sequenceOf(30L, 10, 25, 3), limit = 2, ordered = false) { it.also { delay(it) } }
        assertEquals(listOf(10L, 30, 3, 25), mapped)
        assertEquals(listOf(null, null), mapLimit(sequenceOf(1, 2), 2, ordered = false) { null })
    }

    /** Each place is used again at once: nothing waits for the slowest of a round. */
    @Test
    fun mapLimit_oneSlowElement_holdsUpNoOther() = scene {
        mapLimit(numbers(21), limit = 2, ordered = false) { delay(if (it == 0) 200 else 10) }
        assertEquals(200, now)
    }

    /**
     * Places 1 to 5; each row is weight and time of the elements, then when the last one ends, and the most in flight.
     */
    @ParameterizedTest
    @CsvSource(
        "1 10 1 10 1 10 1 10 1 10, 10, 5",
        "5 10 5 10, 20, 5",
        "3 10 3 10 2 10, 20, 5",
        // A heavy element waits, and those behind it with it.
        "1 20 5 10 1 10, 40, 5",
        "2 10 2 20 3 10 1 5, 25, 5",
    )
    fun mapLimit_weights_boundTheirSum(elements: String, end: Long, most: Int) = scene {
        val all = elements.split(' ').map(String::toInt).chunked(2)
        val mapped =
            mapLimit(all.asSequence().counted(), limit = 5, weight = { it[0] }) { (weight, time) ->
                work(weight) { delay(time.toLong()) }
                weight
            }
        assertEquals(all.map { it[0] }, mapped)
        assertEquals(end, now)
        assertEquals(most, peak)
    }

    @Test
    fun mapLimit_anyWeights_neverExceedTheLimit() = scene {
        val random = Random(2)
        val mapped =
            mapLimit(numbers(500), limit = 7, weight = { 1 + it % 7 }) {
                work(1 + it % 7) { delay(random.nextLong(9)) }
                it
            }
        assertEquals(List(500) { it }, mapped)
        assertEquals(7, peak)
    }

    @ParameterizedTest
    @ValueSource(ints = [Int.MIN_VALUE, -1, 0, 6, Int.MAX_VALUE])
    fun mapLimit_weightOutOfRange_failsTheCallWithBothNumbers(weight: Int) = scene {
        val calls: List<suspend () -> Unit> =
            listOf(
                { mapLimit(numbers, 5, weight = { if (it == 3) weight else 1 }) { work { delay(10) } } },
                { mapSettled(numbers, 5, weight = { if (it == 3) weight else 1 }) { work { delay(10) } } },
                { forEachLimit(numbers, 5, weight = { if (it == 3) weight else 1 }) { work { delay(10) } } },
            )
        for (call in calls) {
            val e = assertThrows<IllegalArgumentException> { call() }
            assertContains(e.message, weight, "1..5")
        }
        assertEquals(9, started)
    }

    /** The worker has ended, and another one replaces it. */
    @Test
    fun mapLimit_mapperCancelsItsOwnJobAndReturns_losesNothing() = scene {
        val mapped =
            mapLimit(numbers(20), limit = 3) {
                work { it.also { if (it % 3 == 0) currentCoroutineContext().cancel() } }
            }
        assertEquals(List(20) { it }, mapped)
    }

    /**
     * Element 2 was pulled and weighed by the worker of element 0, which is cancelled while it waits for the places.
     */
    @Test
    fun mapLimit_workerIsCancelledWhileItWaitsForPlaces_weighsOnce() = scene {
        val weighed = mutableListOf<Int>()
        lateinit var worker: Job
        val weight = { it: Int -> (1 + it / 2).also { _ -> weighed += it } }
        val mapped =
            mapLimit(numbers(3), limit = 2, weight = weight) {
                if (it == 0) worker = currentCoroutineContext().job
                if (it < 2) delay(10L * (it + 1))
                if (it == 1) worker.cancel().also { delay(10) }
                it
            }
        assertEquals(listOf(0, 1, 2), mapped)
        assertEquals(listOf(0, 1, 2), weighed)
    }

    @Test
    fun mapLimit_weightThrows_isAFailureOfTheSource() = scene {
        val thrown = failureOf {
            mapLimit(numbers, 3, weight = { if (it == 2) throw IOException("w") else 1 }) { delay(10) }
        }
        assertEquals("w", thrown.message)
        assertEquals(10, now)
    }

    @Test
    fun cancelRunning_cleanUpThrows_isSuppressed() = scene {
        val thrown = failureOf {
            mapLimit(numbers, limit = 3, cancelRunning = true) {
                if (it == 2) throw IOException("first")
                try {
                    work { delay(100) }
                } finally {
                    if (it == 0) throw IOException("clean-up")
                }
            }
        }
        assertEquals("first", thrown.message)
        assertEquals(listOf("clean-up"), thrown.suppressed.map { it.message })
        assertEquals(0, now)
    }

    @Test
    fun cancelRunning_transformIgnoresIt_isAwaited() = scene {
        val thrown = failureOf {
            forEachLimit(numbers, limit = 2, cancelRunning = true) {
                if (it == 1) throw IOException("first")
                work { withContext(NonCancellable) { delay(70) } }
            }
        }
        assertEquals("first", thrown.message)
        assertEquals(0, thrown.suppressed.size)
        assertEquals(70, now)
    }

    /** A heavy element waits for places that a failed one gives back. */
    @ParameterizedTest
    @ValueSource(booleans = [false, true])
    fun mapLimit_failureWhileAnElementWaitsForPlaces_doesNotStartIt(cancelRunning: Boolean) = scene {
        failureOf {
            mapLimit(numbers, 3, cancelRunning = cancelRunning, weight = { if (it == 2) 3 else 1 }) {
                work { delay(10L * (it + 1)) }
                if (it == 0) throw IOException("0")
            }
        }
        assertEquals(2, started)
        assertEquals(if (cancelRunning) 10 else 20, now)
    }

    /** A heavy element was pulled when the failure came, and waits for its places. */
    @Test
    fun mapSettled_failureWhileAnElementWaitsForPlaces_isNotStarted() = scene {
        val outcomes =
            mapSettled(numbers(4), limit = 3, maxFailures = 1, weight = { if (it == 2) 3 else 1 }) {
                work { delay(10L * (it + 1)) }
                if (it == 0) throw IOException("0") else it
            }
        assertEquals(2, started)
        val rest = if (settlesRest) List(2) { Outcome.NotStarted } else emptyList()
        assertEquals(listOf(Outcome.Success(1)) + rest, outcomes.drop(1))
    }

    @ParameterizedTest
    @ValueSource(booleans = [true, false])
    fun mapLimit_callerIsCancelledAndAnElementFails_throwsTheCancellation(failsBefore: Boolean) = scene {
        var thrown: Throwable? = null
        val call =
            test.launch {
                thrown =
                    assertThrows<Throwable> {
                        mapLimit(numbers, limit = 3) {
                            try {
                                delay(if (failsBefore && it == 0) 10 else 100)
                            } finally {
                                if (it == 0) throw IOException("disk")
                            }
                        }
                    }
            }
        delay(50)
        call.cancel(CancellationException("enough"))
        call.join()
        assertEquals(50, now)
        assertTrue(thrown is CancellationException) { "$thrown" }
        assertEquals(listOf("disk"), thrown!!.suppressed.map { it.message })
    }
}
