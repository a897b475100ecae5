package baton.resilience

import baton.asClock
import java.io.IOException
import java.util.concurrent.CancellationException
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TestTimeSource
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assertions.fail
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/** Retries in virtual time: the instants of the attempts, and cancellation. */
class RetryTimeTest {
    private val instants = mutableListOf<Long>()

    private fun doubling(attempts: Int = 4, attemptTimeout: Duration = Duration.INFINITE) =
        RetryPolicy(
            maxAttempts = attempts,
            backoff = Backoff.exponential(1.seconds),
            jitter = Jitter.None,
            attemptTimeout = attemptTimeout,
            name = "api",
        )

    private suspend fun TestScope.failAlways(policy: RetryPolicy, e: () -> Throwable = { IOException() }): Throwable =
        assertThrows<Throwable> {
            retry<Unit>(policy) {
                instants += currentTime
                throw e()
            }
        }

    @Test
    fun attempts_afterAnExponentialBackoff_beginAtItsInstants() = runTest {
        failAlways(doubling())
        assertEquals(listOf(0L, 1000, 3000, 7000), instants)
    }

    @Test
    fun maxElapsed_clockGoesBack_leavesTheAttemptsBounded_andCountsAnewFromThere() = runTest {
        val clock = TestTimeSource()
        val policy = {
            RetryPolicy(maxAttempts = 5, maxElapsed = 1.minutes, jitter = Jitter.None, clock = clock.asClock())
        }
        failAlways(policy()) { IOException().also { clock += (-1).hours } }
        assertEquals(5, instants.size)
        instants.clear()
        failAlways(policy()) { IOException().also { clock += if (instants.size == 1) (-1).hours else 2.hours } }
        assertEquals(2, instants.size)
    }

    @Test
    fun attempts_byDefault_areThreeWithinTheJitter() = runTest {
        failAlways(RetryPolicy(random = Random(7)))
        assertEquals(3, instants.size)
        assertTrue(instants[1] in 500..1500, instants::toString)
        assertTrue(instants[2] - instants[1] in 1000..3000, instants::toString)
    }

    @Test
    fun retryAfter_inPartsOfAMillisecond_isNeverEarly() = runTest {
        val e = failAlways(RetryPolicy(retryAfter = { 40.seconds + 1.nanoseconds }))
        assertEquals(listOf(0L, 40_001, 80_002), instants)
        assertEquals(1 + 1, e.suppressed.size)
    }

    @Test
    fun retryAfter_ofAResult_isWaitedFor() = runTest {
        val policy = RetryPolicy(jitter = Jitter.None)
        val last =
            retry(policy, retryResult = { it.first == 429 }, resultRetryAfter = { RetryAfter.parse(it.second) }) {
                instants += currentTime
                if (it.number == 1) 429 to "2" else 200 to null
            }
        assertEquals(200, last.first)
        assertEquals(listOf(0L, 2000), instants)
    }

    @Test
    fun attempt_knowsItsNumberFailureAndDelay() = runTest {
        val seen = mutableListOf<String>()
        failAlways(doubling(3))
        retry(doubling(3)) {
            seen += "${it.number} ${it.lastFailure?.message} ${it.delay}"
            if (it.number < 3) throw IOException("${it.number}")
        }
        assertEquals(listOf("1 null 0s", "2 1 1s", "3 2 2s"), seen)
    }

    @Test
    fun attemptTimeout_afterTheCleanUp_isFollowedByTheNextAttempt() = runTest {
        val ends = mutableListOf<Long>()
        val e =
            assertThrows<AttemptTimeoutException> {
                retry<Unit>(doubling(2, attemptTimeout = 5.seconds)) {
                    instants += currentTime
                    try {
                        awaitCancellation()
                    } finally {
                        withContext(NonCancellable) { delay(3.seconds) }
                        ends += currentTime
                    }
                }
            }
        assertEquals(listOf(0L, 9000), instants)
        assertEquals(listOf(8000L, 17_000), ends)
        assertEquals("attempt 2 of retry 'api' not done within 5s", e.message)
    }

    @Test
    fun attemptTimeout_whoseCleanUpFails_isStillATimeout() = runTest {
        val e =
            assertThrows<AttemptTimeoutException> {
                retry(doubling(1, attemptTimeout = 5.seconds)) {
                    try {
                        awaitCancellation()
                    } finally {
                        throw IOException("closed")
                    }
                }
            }
        assertEquals(listOf("closed"), e.suppressed.map { it.message })
    }

    @Test
    fun attempt_withinItsTimeout_returnsOrFailsAsItself() = runTest {
        val policy = doubling(1, attemptTimeout = 5.seconds)
        assertEquals(null, retry<Int?>(policy) { null })
        assertThrows<IOException> { retry(policy) { throw IOException() } }
        assertThrows<StackOverflowError> { retry(policy) { throw StackOverflowError() } }
    }

    @Test
    fun timeoutOfTheBlock_isRetried_butNotThatOfTheCaller() = runTest {
        assertThrows<TimeoutCancellationException> {
            retry(doubling(3)) {
                instants += currentTime
                withTimeout(1.seconds) { awaitCancellation() }
            }
        }
        assertEquals(listOf(0L, 2000, 5000), instants)
        instants.clear()
        assertThrows<TimeoutCancellationException> {
            withTimeout(1.seconds) {
                retry(doubling(3)) {
                    instants += currentTime
                    awaitCancellation()
                }
            }
        }
        assertEquals(1, instants.size)
    }

    @Test
    fun timeoutOfTheBlock_withinAnAttemptTimeout_isRetriedAsItself() = runTest {
        val e =
            assertThrows<TimeoutCancellationException> {
                retry(doubling(2, attemptTimeout = 5.seconds)) {
                    instants += currentTime
                    withTimeout(1.seconds) { awaitCancellation() }
                }
            }
        assertEquals(listOf(0L, 2000), instants)
        assertEquals(1, e.suppressed.size)
    }

    @Test
    fun timeoutOfTheBlock_afterTheAttemptTimeout_countsAsTheLatter() = runTest {
        assertThrows<AttemptTimeoutException> {
            retry(doubling(2, attemptTimeout = 5.seconds)) {
                instants += currentTime
                withContext(NonCancellable) { withTimeout(9.seconds) { awaitCancellation() } }
            }
        }
        assertEquals(listOf(0L, 10_000), instants)
    }

    @Test
    fun value_afterTheAttemptTimeout_counts() = runTest {
        val value =
            retry(doubling(2, attemptTimeout = 5.seconds)) {
                instants += currentTime
                try {
                    awaitCancellation()
                } catch (_: CancellationException) {
                    "late"
                }
            }
        assertEquals("late", value)
        assertEquals(listOf(0L), instants)
    }

    @ParameterizedTest
    @ValueSource(booleans = [true, false])
    fun value_inACancelledCoroutine_isReturned(isLimited: Boolean) = runTest {
        val values = mutableListOf<String>()
        val job = launch {
            val caller = currentCoroutineContext()
            values +=
                retry(doubling(attemptTimeout = if (isLimited) 5.seconds else Duration.INFINITE)) {
                    caller.cancel()
                    "value"
                }
        }
        job.join()
        assertTrue(job.isCancelled)
        assertEquals(listOf("value"), values)
    }

    @Test
    fun wait_cancelled_endsAtOnce() = runTest {
        val job = launch { failAlways(doubling()) }
        advanceTimeBy(1500.milliseconds)
        job.cancelAndJoin()
        assertEquals(1500, currentTime)
        assertEquals(listOf(0L, 1000), instants)
    }

    @Test
    fun block_inACancelledCoroutine_isNotCalledAgain() = runTest {
        val spent = RetryBudget(0.0, 1)
        val job = launch {
            retry(RetryPolicy(budget = spent, maxDelay = Duration.ZERO)) {
                instants += currentTime
                currentCoroutineContext().cancel()
                throw IOException()
            }
        }
        job.join()
        assertTrue(job.isCancelled)
        assertEquals(1, instants.size)
        assertEquals(1, spent.available)
    }

    @Test
    fun retryResult_inACancelledCoroutine_isNotRetried() = runTest {
        val job = launch {
            retry(RetryPolicy(maxDelay = Duration.ZERO), retryResult = { true }) {
                instants += currentTime
                currentCoroutineContext().cancel()
            }
        }
        job.join()
        assertEquals(1, instants.size)
    }

    @Test
    fun cancellationOfSomethingElse_endsTheCall() = runTest {
        val other = CompletableDeferred<Int>().apply { cancel() }
        assertThrows<CancellationException> {
            retry(RetryPolicy(retryIf = { fail("asked") })) {
                instants += currentTime
                other.await()
            }
        }
        assertEquals(1, instants.size)
        assertFalse(currentCoroutineContext().let { it[kotlinx.coroutines.Job]!!.isCancelled })
    }

    @Test
    fun cancelSweep_atEveryInstant_endsThere() {
        for (at in 0L..17_500 step 500) runTest {
            var isInside = false
            var begun = 0
            val job = launch {
                assertThrows<CancellationException> {
                    retry<Unit>(doubling(5, attemptTimeout = 2.seconds)) {
                        begun++
                        isInside = true
                        try {
                            awaitCancellation()
                        } finally {
                            isInside = false
                        }
                    }
                }
                throw CancellationException("done")
            }
            advanceTimeBy(at.milliseconds)
            job.cancelAndJoin()
            assertEquals(at, currentTime)
            assertFalse(isInside)
            // The attempts begin at 0, 3, 7 and 13 seconds; at the instant itself the cancel comes first.
            assertEquals(listOf(0L, 3000, 7000, 13_000).count { it < at }, begun, "cancelled at $at")
        }
    }
}
