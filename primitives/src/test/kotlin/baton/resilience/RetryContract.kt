package baton.resilience

import baton.BatonClock
import baton.PermitTimeoutException
import baton.Refusal
import baton.asClock
import java.io.IOException
import java.util.concurrent.CancellationException
import java.util.concurrent.TimeoutException
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TestTimeSource
import kotlin.time.TimeSource
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/** The decisions of a retry. Waits are zero here, but for those of a few real milliseconds. */
abstract class RetryContract(private val face: RetryFace) {
    private val delays = mutableListOf<Duration>()
    private var calls = 0

    private fun policy(
        attempts: Int = 3,
        backoff: Backoff = Backoff.constant(Duration.ZERO),
        jitter: Jitter = Jitter.None,
        maxElapsed: Duration = Duration.INFINITE,
        clock: BatonClock? = null,
        budget: RetryBudget? = null,
        retryIf: (Throwable) -> Boolean = { true },
        retryAfter: (Throwable) -> Duration? = { null },
        onRetry: (RetryAttempt) -> Unit = { delays += it.delay },
    ) =
        RetryPolicy(
            maxAttempts = attempts,
            backoff = backoff,
            jitter = jitter,
            maxElapsed = maxElapsed,
            clock = clock,
            budget = budget,
            retryIf = retryIf,
            retryAfter = retryAfter,
            onRetry = onRetry,
        )

    private fun <T> run(policy: RetryPolicy, block: (Int) -> T): T =
        face.call(policy, null, null) {
            calls++
            assertEquals(calls, it, "number of the attempt")
            block(it)
        }

    private inline fun <reified E : Throwable> failing(policy: RetryPolicy, noinline block: (Int) -> Any?): E =
        assertThrows(E::class.java) { run(policy, block) }

    @Test
    fun success_atOnce_isTheResult() {
        assertEquals("body", run(RetryPolicy()) { "body" })
        assertEquals(null, face.call<Any?>(RetryPolicy(), null, null) { null })
    }

    @Test
    fun failure_thenSuccess_isTheResult() {
        assertEquals("body 3", run(policy()) { if (it < 3) throw IOException("$it") else "body $it" })
        assertEquals(listOf(Duration.ZERO, Duration.ZERO), delays)
    }

    @Test
    fun failures_ofAllAttempts_throwTheLastWithTheOthersSuppressed() {
        val e = failing<IOException>(policy()) { throw IOException("$it") }
        assertEquals("3", e.message)
        assertEquals(listOf("1", "2"), e.suppressed.map { it.message })
    }

    @Test
    fun failures_ofManyAttempts_suppressTheLastTenAlone() {
        val e = failing<IOException>(policy(attempts = 15)) { throw IOException("$it") }
        assertEquals((5..14).map { "$it" }, e.suppressed.map { it.message })
        val same = IOException("same")
        calls = 0
        assertSame(same, failing<IOException>(policy()) { throw same })
        assertEquals(0, same.suppressed.size)
    }

    @Test
    fun retryIf_byDefault_isForInputOutputAndTimeouts() {
        for (e in listOf(IOException(), TimeoutException())) {
            calls = 0
            assertSame(e, failing<Exception>(RetryPolicy(maxAttempts = 2, maxDelay = Duration.ZERO)) { throw e })
            assertEquals(2, calls)
        }
        for (e in listOf(IllegalStateException("a bug"), PermitTimeoutException("full"), Quota())) {
            calls = 0
            assertSame(e, failing<Exception>(RetryPolicy()) { throw e })
            assertEquals(1, calls)
        }
    }

    private class Quota : IOException(), Refusal {
        override fun retryIn(): java.time.Duration = java.time.Duration.ofMillis(2)
    }

    @Test
    fun refusal_thatRetryIfAccepts_isWaitedForAsItNames() {
        failing<Quota>(policy()) { throw Quota() }
        failing<IOException>(policy(retryAfter = { 3.milliseconds }).also { calls = 0 }) { throw Quota() }
        calls = 0
        failing<PermitTimeoutException>(policy()) { throw PermitTimeoutException("full") }
        assertEquals(listOf(2, 2, 3, 3, 0, 0).map { it.milliseconds }, delays)
    }

    @Test
    fun errorAndCancellation_areNeverRetriedNorAskedAbout() {
        val asked = policy(retryIf = { throw AssertionError("asked about $it") })
        for (e in listOf(StackOverflowError(), CancellationException("away"), InterruptedException())) {
            calls = 0
            assertEquals(e.javaClass, failing<Throwable>(asked) { throw e }.javaClass)
            assertEquals(1, calls)
        }
    }

    @Test
    fun result_notAccepted_isRetriedAndReturnedInTheEnd() {
        val accepted = face.call(policy(), { it < 2 }, { null }) { it }
        assertEquals(2, accepted)
        val last = face.call(policy(), { it < 9 }, { it.milliseconds }) { it }
        assertEquals(3, last)
        assertEquals(listOf(Duration.ZERO, 1.milliseconds, 2.milliseconds), delays)
    }

    @Test
    fun result_thatIsNotAcceptedInTheEnd_failsTheCall_ifThePolicySaysSo() {
        val strict = policy().copy(failAfterLast = true)
        val e =
            assertThrows(ResultNotAcceptedException::class.java) {
                face.call<Any?>(strict, { it == null || it == 2 }, { null }) {
                    if (it == 1) throw IOException("first")
                    if (it == 2) 2 else null
                }
            }
        assertEquals(null, e.result)
        assertEquals("attempt 3 of retry had a result that was not accepted", e.message)
        assertEquals(listOf("first"), e.suppressed.map { it.message })
        assertEquals(4, face.call(strict.copy(maxAttempts = 4), { it < 4 }, { null }) { it })
        val broke = strict.copy(budget = RetryBudget(0.0, 0), name = "x")
        val first =
            assertThrows(ResultNotAcceptedException::class.java) { face.call<Int>(broke, { true }, { null }) { it } }
        assertEquals(1 to "attempt 1 of retry 'x' had a result that was not accepted", first.result to first.message)
    }

    /** Two minutes became half a minute, and in another language something else. */
    @Test
    fun constantWait_isNotCut() {
        var seen = Duration.ZERO
        val stop = { attempt: RetryAttempt ->
            seen = attempt.delay
            throw IllegalStateException()
        }
        for (maxDelay in listOf(30.seconds, Duration.ZERO)) {
            val long = policy(backoff = Backoff.constant(120.seconds), onRetry = stop).copy(maxDelay = maxDelay)
            failing<IllegalStateException>(long) { throw IOException() }
            calls = 0
            assertEquals(120.seconds, seen)
        }
        val spread = mutableListOf<Duration>()
        repeat(200) {
            failing<IllegalStateException>(
                policy(backoff = Backoff.constant(120.seconds), jitter = Jitter.Factor(0.5), onRetry = stop)
            ) {
                throw IOException()
            }
            calls = 0
            spread += seen
        }
        assertTrue(spread.all { it in 60.seconds..180.seconds } && spread.any { it > 120.seconds }, "$spread")
        repeat(200) {
            failing<IllegalStateException>(
                policy(backoff = Backoff.constant(120.seconds), jitter = Jitter.Decorrelated, onRetry = stop)
            ) {
                throw IOException()
            }
            calls = 0
            assertEquals(120.seconds, seen, "grows, and so is bounded")
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = [true, false])
    fun functions_thatThrow_endTheCallWithTheFailureSuppressed(isResult: Boolean) {
        val thrown = IllegalArgumentException("mine")
        val policies =
            listOf(
                policy(backoff = { throw thrown }),
                policy(onRetry = { throw thrown }),
                policy(retryIf = { throw thrown }).takeUnless { isResult },
                policy(retryAfter = { throw thrown }).takeUnless { isResult },
            )
        for (policy in policies.filterNotNull()) {
            var runs = 0
            val e =
                assertThrows(IllegalArgumentException::class.java) {
                    face.call(policy, { true }, { null }) {
                        runs++
                        if (!isResult) throw IOException("first")
                    }
                }
            assertEquals("mine", e.message)
            assertEquals(1, runs)
        }
        assertEquals(if (isResult) 0 else 1, thrown.suppressed.map { it.message }.distinct().size)
        assertThrows(IllegalArgumentException::class.java) {
            face.call<Int>(policy(), { throw thrown }, { null }) { it }
        }
    }

    @Test
    fun retryAfter_longerThanTheBackoff_isTheWaitInWholeMilliseconds() {
        val begun = TimeSource.Monotonic.markNow()
        run(policy(retryAfter = { 20.milliseconds + 1.nanoseconds })) { if (it == 1) throw IOException() }
        assertEquals(listOf(21.milliseconds), delays)
        assertTrue(begun.elapsedNow() >= 21.milliseconds, "early")
    }

    @ParameterizedTest
    @ValueSource(longs = [60_000, 60_001, Long.MAX_VALUE])
    fun retryAfter_beyondItsMaximum_isNotWaitedFor(millis: Long) {
        val policy = policy(retryAfter = { millis.milliseconds }, onRetry = { throw IllegalStateException("waits") })
        if (millis == 60_000L) failing<IllegalStateException>(policy) { throw IOException() }
        else failing<IOException>(policy) { throw IOException() }
        assertEquals(1, calls)
    }

    @ParameterizedTest
    @ValueSource(longs = [0, 1])
    fun maxElapsed_isReachedByAWait_butNotExceeded(beyond: Long) {
        val clock = TestTimeSource()
        val policy =
            policy(
                backoff = Backoff.constant(1.milliseconds),
                maxElapsed = 10.seconds,
                clock = clock.asClock(),
                attempts = 2,
                budget = RetryBudget(0.0, 1),
            )
        failing<IOException>(policy) {
            clock += 10.seconds - 1.milliseconds + beyond.nanoseconds
            throw IOException()
        }
        assertEquals(if (beyond == 0L) 2 else 1, calls)
        assertEquals(beyond.toInt(), policy.budget?.available)
    }

    @Test
    fun budget_isSpentByRetriesAndEarnedBySuccesses() {
        val budget = RetryBudget(ratio = 0.5, burst = 2)
        val policy = policy(attempts = 10, budget = budget)
        failing<IOException>(policy) { throw IOException() }
        assertEquals(3, calls)
        repeat(2) { face.call(policy, null, null) {} }
        assertEquals(1, budget.available)
        assertEquals(2, face.call(policy, { it < 5 }, { null }) { it }, "a result that is not accepted earns nothing")
        assertEquals(0, budget.available)
    }

    @Test
    fun retriesWithoutAWait_tenThousand_needNoStack() {
        assertEquals(
            10_000,
            run(policy(attempts = 10_000, onRetry = {})) { if (it < 10_000) throw IOException() else it },
        )
    }

    @Test
    fun waits_areThoseOfTheSeededRandom() {
        fun waits(face: RetryFace): List<Duration> {
            val found = mutableListOf<Duration>()
            val policy =
                RetryPolicy(
                    maxAttempts = 6,
                    backoff = Backoff.exponential(100.nanoseconds),
                    random = kotlin.random.Random(1),
                    onRetry = { found += it.delay },
                )
            assertThrows(IOException::class.java) { face.call(policy, null, null) { throw IOException() } }
            return found
        }
        assertEquals(waits(KotlinRetryFace), waits(face))
    }
}
