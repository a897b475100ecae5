package baton.resilience.breaker

import baton.PermitTimeoutException
import baton.Refusal
import baton.monitoring.CallEvent
import baton.resilience.BreakerState
import baton.resilience.BreakerState.CLOSED
import baton.resilience.BreakerState.HALF_OPEN
import baton.resilience.BreakerState.OPEN
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitOpenException
import baton.resilience.RateLimitedException
import baton.resilience.RateLimiterClosedException
import java.io.IOException
import java.util.concurrent.CancellationException
import java.util.concurrent.CompletionException
import java.util.concurrent.CopyOnWriteArrayList
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TestTimeSource
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The counting and the refusals of a breaker, through any API. */
abstract class BreakerContract(private val face: BreakerFace) {
    private class Quota : IOException(), Refusal

    private val clock = TestTimeSource()
    private val breaker = CircuitBreaker(config(clock, slowCall = 1.seconds), "api")

    private fun <T> run(breaker: CircuitBreaker = this.breaker, block: () -> T): T = face.protect(breaker, block)

    private fun fail(breaker: CircuitBreaker = this.breaker, failure: Throwable = IOException()) =
        assertThrows<Throwable> { run(breaker) { throw failure } }

    private fun counts(breaker: CircuitBreaker = this.breaker) =
        breaker.metrics.run { listOf(calls, (failureRate * calls).toInt(), (slowRate * calls).toInt()) }

    private fun open() {
        repeat(2) { fail() }
        assertEquals(OPEN, breaker.state)
    }

    @Test
    fun value_isTheResultAndASuccess() {
        assertEquals("body", run { "body" })
        assertEquals(null, run<String?> { null })
        assertEquals(listOf(2, 0, 0), counts())
    }

    @Test
    fun failure_isThrownAndCounted() {
        val failure = IOException("down")
        assertSame(failure, fail(failure = failure))
        assertEquals(listOf(1, 1, 0), counts())
    }

    @Test
    fun failure_thatIsNone_isThrownAndASuccess() {
        val choosy = CircuitBreaker(config(clock, isFailure = { it is IOException }))
        assertEquals("bug", fail(choosy, IllegalStateException("bug")).message)
        assertEquals(listOf(1, 0, 0), counts(choosy))
    }

    @Test
    fun error_countsAsNothing_whateverIsFailureSays() {
        assertEquals(AssertionError::class.java, fail(failure = AssertionError()).javaClass)
        assertEquals(listOf(0, 0, 0), counts())
    }

    /** Three errors of the caller's own have closed the breaker of a dead service. */
    @Test
    fun errorsAndIgnoredExceptions_ofProbes_doNotCloseTheBreaker() {
        val choosy = CircuitBreaker(config(clock, ignoreIf = { it is IllegalArgumentException }), "api")
        repeat(2) { fail(choosy) }
        clock += 10.seconds
        repeat(3) { fail(choosy, NoClassDefFoundError()) }
        repeat(3) { fail(choosy, IllegalArgumentException()) }
        assertEquals(HALF_OPEN, choosy.state)
        repeat(2) { run(choosy) {} }
        assertEquals(CLOSED, choosy.state)
    }

    /** A dead service behind many local failures stayed unnoticed, because those counted as its successes. */
    @Test
    fun ignoredExceptions_doNotDiluteTheFailures() {
        val choosy = CircuitBreaker(config(clock, ignoreIf = { it is IllegalArgumentException }), "api")
        fail(choosy)
        repeat(6) { fail(choosy, IllegalArgumentException()) }
        assertEquals(listOf(1, 1, 0), counts(choosy))
        fail(choosy)
        assertEquals(OPEN, choosy.state)
    }

    @Test
    fun failureResult_isReturnedAndAFailure() {
        val choosy = CircuitBreaker(config(clock, failureResult = { it == 503 || it == null }, slowCall = 1.seconds))
        assertEquals(200, run(choosy) { 200 })
        assertEquals(listOf(1, 0, 0), counts(choosy))
        assertEquals(503, run(choosy) { 503.also { clock += 2.seconds } })
        assertEquals(OPEN, choosy.state)
        assertEquals(listOf(2, 1, 0), counts(choosy), "a failure is a failure alone")
        clock += 10.seconds
        assertEquals(null, run<Any?>(choosy) { null })
        assertEquals(OPEN, choosy.state)
    }

    @Test
    fun functionsOfTheConfiguration_areAskedForWhatTheyDecideAlone() {
        val asked = ArrayList<Any?>()
        val looking =
            CircuitBreaker(
                config(
                    clock,
                    ignoreIf = { asked.add("ignore $it") && it is IllegalStateException },
                    failureResult = { asked.add("result $it") },
                )
            )
        fail(looking, CancellationException())
        fail(looking, Quota())
        fail(looking, AssertionError())
        assertEquals(emptyList<Any?>(), asked)
        fail(looking, IllegalStateException("a"))
        run(looking) { 1 }
        assertEquals(listOf("ignore java.lang.IllegalStateException: a", "result 1"), asked)
        assertEquals(listOf(1, 1, 0), counts(looking))
    }

    @Test
    fun functionsThatThrow_failTheCall() {
        val throwing = CircuitBreaker(config(clock, ignoreIf = { throw IllegalArgumentException("mine") }))
        val e = fail(throwing)
        assertEquals("mine" to listOf("java.io.IOException"), e.message to e.suppressed.map { it.toString() })
        assertEquals(listOf(1, 1, 0), counts(throwing))
        val judging = CircuitBreaker(config(clock, failureResult = { throw IllegalArgumentException("judge") }))
        assertEquals("judge", assertThrows<IllegalArgumentException> { run<Any>(judging) { "body" } }.message)
        assertEquals(listOf(1, 1, 0), counts(judging))
    }

    @Test
    fun probes_openAndCloseByNOfM() {
        val tolerant = CircuitBreaker(config(clock, probes = 5, failuresToOpen = 2), "api")
        repeat(2) { fail(tolerant) }
        clock += 10.seconds
        repeat(3) { run(tolerant) {} }
        fail(tolerant)
        assertEquals(HALF_OPEN, tolerant.state)
        run(tolerant) {}
        assertEquals(CLOSED, tolerant.state, "four of five have succeeded")
        repeat(2) { fail(tolerant) }
        clock += 10.seconds
        repeat(3) { run(tolerant) {} }
        repeat(2) { fail(tolerant) }
        assertEquals(OPEN, tolerant.state)
    }

    @Test
    fun listener_ofCalls_hearsOfEachWithItsOutcomeAndDuration() {
        val heard = ArrayList<CallEvent>()
        val listener = breaker.onCall { heard += it }
        val failure = IOException()
        run { clock += 300.milliseconds }
        repeat(2) { run {} }
        fail(failure = failure)
        fail(failure = AssertionError())
        fail(failure = RateLimiterClosedException("closed"))
        fail(failure = failure)
        fail()
        assertEquals(
            listOf("SUCCESS 300ms", "SUCCESS 0s", "SUCCESS 0s", "FAILURE 0s", "IGNORED 0s") +
                listOf("REFUSED 0s", "FAILURE 0s", "REFUSED 0s"),
            heard.map { "${it.outcome} ${it.duration}" },
        )
        assertEquals(listOf(1, 1, 1, 1, 1, 1, 1, 0), heard.map { it.attempts })
        assertSame(failure, heard[3].failure)
        assertTrue(heard[7].failure is CircuitOpenException)
        listener.close()
        breaker.reset()
        run {}
        assertEquals(8, heard.size)
    }

    @Test
    fun listener_ofCalls_thatThrows_harmsNeitherTheCallNorTheOthers() {
        val handler = Thread.getDefaultUncaughtExceptionHandler()
        val reported = CopyOnWriteArrayList<Throwable>()
        var heard = 0
        Thread.setDefaultUncaughtExceptionHandler { _, e -> reported += e }
        try {
            breaker.onCall { throw AssertionError("listener") }
            breaker.onCall { heard++ }
            assertEquals(1, run { 1 })
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(handler)
        }
        assertEquals(1 to listOf("listener"), heard to reported.map { it.message })
        assertEquals(listOf(1, 0, 0), counts())
    }

    @Test
    fun openFor_refusesForThatTime_fromAnyState() {
        for (before in listOf<CircuitBreaker.() -> Unit>({}, { trip() }, { disable() }, { openFor(1.seconds) })) {
            breaker.reset()
            breaker.before()
            breaker.openFor(7.minutes)
            assertEquals(OPEN to 7.minutes, breaker.state to breaker.retryIn)
            clock += 7.minutes - 1.nanoseconds
            assertThrows<CircuitOpenException> { run {} }
            clock += 1.nanoseconds
            fail()
            assertEquals(OPEN to 10.seconds, breaker.state to breaker.retryIn, "the first opening in a row")
        }
    }

    @Test
    fun cancellation_isThrownAndCountsAsNothing() {
        assertThrows<CancellationException> { run { throw CancellationException("away") } }
        assertEquals(listOf(0, 0, 0), counts())
    }

    @Test
    fun refusal_isThrownAndCountsAsNothing() {
        assertThrows<RateLimitedException> { run { throw RateLimitedException("too many wait", 1.seconds) } }
        assertThrows<RateLimiterClosedException> { run { throw RateLimiterClosedException("closed") } }
        assertThrows<PermitTimeoutException> { run { throw PermitTimeoutException("full") } }
        assertThrows<Quota> { run { throw Quota() } }
        assertEquals(listOf(0, 0, 0), counts())
    }

    @Test
    fun isFailure_thatThrows_failsTheCallWithTheFailureSuppressed() {
        val throwing = CircuitBreaker(config(clock, isFailure = { throw IllegalArgumentException("mine") }))
        val e = fail(throwing)
        assertEquals("mine", e.message)
        assertEquals(listOf(IOException::class.java), e.suppressed.map { it.javaClass })
        assertEquals(listOf(1, 1, 0), counts(throwing))
    }

    @Test
    fun callThatTakesLonger_isSlow() {
        run { clock += 1.seconds }
        assertEquals(listOf(1, 0, 0), counts())
        run { clock += 1.seconds + 1.nanoseconds }
        assertEquals(listOf(2, 0, 1), counts())
        assertThrows<IOException> {
            run {
                clock += 2.seconds
                throw IOException()
            }
        }
        assertEquals(listOf(3, 1, 1), counts(), "a failure is a failure alone")
    }

    @Test
    fun openBreaker_refusesUntilItsEnd_thenProbes() {
        open()
        clock += 10.seconds - 1.nanoseconds
        val refused = assertThrows<CircuitOpenException> { run { throw AssertionError("let in") } }
        assertEquals(1.nanoseconds, refused.retryIn)
        assertEquals("CircuitBreaker 'api' is open, retry in 1ns", refused.message)
        clock += 1.nanoseconds
        assertEquals(HALF_OPEN, run { breaker.state })
        run {}
        assertEquals(CLOSED, breaker.state)
        assertEquals(1, breaker.metrics.rejected)
    }

    @Test
    fun probes_insideAtATime_areAsManyAsAllowed() {
        open()
        clock += 10.seconds
        run {
            clock += 1.seconds
            run { assertEquals(4.seconds, assertThrows<CircuitOpenException> { run {} }.retryIn) }
            run {}
        }
        assertEquals(CLOSED, breaker.state)
    }

    @Test
    fun cancelledProbe_givesItsPlaceBack() {
        open()
        clock += 10.seconds
        repeat(5) { assertThrows<CancellationException> { run { throw CancellationException() } } }
        assertEquals(HALF_OPEN, breaker.state)
        repeat(2) { run {} }
        assertEquals(CLOSED, breaker.state)
    }

    @Test
    fun lateProbe_thatSucceeds_keepsItsValueAndChangesNothing() {
        open()
        clock += 10.seconds
        assertEquals("late", run { "late".also { clock += 5.seconds } })
        assertEquals(HALF_OPEN, breaker.state)
        assertEquals(Duration.ZERO, breaker.retryIn)
    }

    /** A callee that hangs for longer than the time of a probe kept the breaker half open for good. */
    @Test
    fun lateProbe_thatFails_opensAgain() {
        open()
        clock += 10.seconds
        assertThrows<IOException> {
            run {
                clock += 5.seconds
                throw IOException()
            }
        }
        assertEquals(OPEN, breaker.state)
        assertEquals(10.seconds, breaker.retryIn)
    }

    @Test
    fun resultOfACallFromBeforeAChange_isDropped() {
        run {
            breaker.trip()
            breaker.reset()
        }
        assertThrows<IOException> {
            run {
                breaker.reset()
                throw IOException()
            }
        }
        assertEquals(listOf(0, 0, 0), counts())
    }

    @Test
    fun awaitClosed_returnsWhetherItWasClosedInTime() {
        assertTrue(face.awaitClosed(breaker, Duration.ZERO))
        breaker.trip()
        assertFalse(face.awaitClosed(breaker, Duration.ZERO))
        assertFalse(face.awaitClosed(breaker, (-1).seconds))
        assertFalse(face.awaitClosed(breaker, 1.milliseconds))
        assertEquals(0, breaker.waiting)
        breaker.disable()
        assertTrue(face.awaitClosed(breaker, 10.seconds))
        assertEquals(BreakerState.DISABLED, breaker.state)
    }

    @Test
    fun wrapperOfAFailure_isSeenAsTheApiShowsIt() {
        val seen = mutableListOf<Throwable>()
        val looking = CircuitBreaker(config(clock, isFailure = { seen.add(it) }))
        val thrown = fail(looking, CompletionException(IOException("inside")))
        assertEquals(listOf(thrown), seen)
    }
}
