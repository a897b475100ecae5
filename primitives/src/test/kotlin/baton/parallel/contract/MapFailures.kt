package baton.parallel.contract

import baton.sync.assertContains
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
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource
import org.junit.jupiter.params.provider.ValueSource

/** The first failure ends the call, after the running elements. */
interface MapFailures : MapFixture {
    /** All of 200,000 elements were pulled although the first one had failed. */
    @Test
    fun mapLimit_firstElementFails_atMostLimitAndOneArePulled() = scene {
        val disk = IOException("disk")
        assertSame(disk, failureOf { mapLimit(numbers(200_000), 2) { if (it == 0) throw disk else delay(10) } })
        assertTrue(pulled <= 3) { "$pulled" }
    }

    @Test fun mapLimit_failure_waitsForWhatRuns() = scene { assertFailureEnds(50, cancelRunning = false) }

    suspend fun MapScene.assertFailureEnds(end: Long, cancelRunning: Boolean) {
        val disk = IOException("disk")
        val thrown = failureOf {
            mapLimit(numbers, 5, cancelRunning = cancelRunning) {
                work { delay(if (it == 4) 10 else 50) }.also { _ -> if (it == 4) throw disk }
            }
        }
        assertSame(disk, thrown)
        assertEquals(end, now)
        assertEquals(5, started)
        assertPulled(5)
        assertEquals(0, disk.suppressed.size)
    }

    @Test fun mapLimit_failuresMeanwhile_areSuppressedInTheFirst() = scene { assertSuppressed(ordered = true) }

    suspend fun MapScene.assertSuppressed(ordered: Boolean) {
        val thrown = failureOf {
            mapLimit(numbers, limit = 4, ordered = ordered) {
                delay(40 - 10L * it)
                if (it != 1) throw IOException("$it")
            }
        }
        assertEquals("3", thrown.message)
        assertEquals(listOf("2", "0"), thrown.suppressed.map { it.message })
        assertEquals(40, now)
    }

    @Test
    fun mapLimit_sameExceptionTwice_isThrownOnce() = scene {
        val disk = IOException("disk")
        assertSame(disk, failureOf { mapLimit(numbers, 3) { throw disk.also { delay(1) } } })
        assertEquals(0, disk.suppressed.size)
    }

    /** A synchronous throw leaked a permit, so that the call after it hung. */
    @Test fun mapLimit_mapperThrowsAtOnce_leaksNoPlace() = scene { assertLeaksNoPlace(null) }

    suspend fun MapScene.assertLeaksNoPlace(weight: ((Int) -> Int)?) {
        val thrown = failureOf { mapLimit(numbers, 2, weight = weight) { throw IOException("$it") } }
        assertContains(thrown.message, 0)
        assertEquals(listOf(0, 1, 2), mapLimit(numbers(3), 2, weight = weight) { it })
    }

    @ParameterizedTest
    @CsvSource("IOException", "Error", "CancellationException", "TimeoutCancellationException", "own job")
    fun mapLimit_anythingThatTheMapperThrows_isAFailure(kind: String) = scene {
        val thrown = failureOf {
            forEachLimit(numbers, limit = 2) {
                delay(10)
                when (kind) {
                    "IOException" -> throw IOException("x")
                    "Error" -> throw StackOverflowError("x")
                    "CancellationException" -> throw CancellationException("x")
                    "TimeoutCancellationException" -> withTimeout(1.milliseconds) { awaitCancellation() }
                    else -> currentCoroutineContext().cancel(CancellationException("x")).also { delay(1) }
                }
            }
        }
        val expected =
            when (kind) {
                "IOException" -> IOException::class
                "Error" -> StackOverflowError::class
                "TimeoutCancellationException" -> TimeoutCancellationException::class
                else -> null
            }
        if (expected != null) assertEquals(expected, thrown::class) else assertTrue(thrown is CancellationException)
        assertTrue(test.testScheduler.currentTime <= 11)
    }

    @ParameterizedTest
    @ValueSource(strings = ["hasNext", "next", "iterator", "cancellation", "error"])
    fun mapLimit_sourceFails_isTheFirstFailure(where: String) = scene {
        val failing = sequence {
            yieldAll(listOf(0, 1))
            when (where) {
                "cancellation" -> throw CancellationException("source")
                "error" -> throw AssertionError("source")
                else -> throw IllegalStateException("source")
            }
        }
        val source =
            when (where) {
                "next" -> Sequence { failing.iterator().let { all -> iterator(all, hasNext = { true }) } }
                "iterator" -> Sequence { throw IllegalStateException("source") }
                else -> failing
            }
        val thrown = failureOf {
            mapLimit(source, limit = 3) {
                work { delay(10L + it) }
                throw IOException("$it")
            }
        }
        assertEquals("source", thrown.message)
        val isThere = where != "iterator"
        assertEquals(if (isThere) listOf("0", "1") else emptyList(), thrown.suppressed.map { it.message })
        assertEquals(if (isThere) 11 else 0, now)
        assertEquals("source", failureOf { mapSettled(source, 3) { delay(1) } }.message)
    }

    private fun <T> iterator(elements: Iterator<T>, hasNext: () -> Boolean) =
        object : Iterator<T> {
            override fun hasNext() = hasNext()

            override fun next() = elements.next()
        }
}
