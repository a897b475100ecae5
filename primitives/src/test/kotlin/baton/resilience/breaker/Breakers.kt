package baton.resilience.breaker

import baton.asClock
import baton.resilience.Backoff
import baton.resilience.BreakerState
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitOpenException
import baton.resilience.Jitter
import baton.resilience.SlidingWindow
import java.io.IOException
import kotlin.time.AbstractLongTimeSource
import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlin.time.DurationUnit
import kotlin.time.TimeSource
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.delay
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.testTimeSource
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.assertThrows

/** Opens at one failure of two calls, for ten seconds without jitter; two probes of five seconds. */
internal fun config(
    timeSource: TimeSource.WithComparableMarks,
    window: SlidingWindow = SlidingWindow.Calls(4),
    minimumCalls: Int = 2,
    failureRate: Double = 0.5,
    slowCall: Duration = Duration.INFINITE,
    slowRate: Double = 1.0,
    openFor: Backoff = Backoff.constant(10.seconds),
    maxOpenFor: Duration = 5.minutes,
    jitter: Jitter = Jitter.None,
    probes: Int = 2,
    failuresToOpen: Int = 1,
    isFailure: (Throwable) -> Boolean = { true },
    ignoreIf: (Throwable) -> Boolean = { false },
    failureResult: (Any?) -> Boolean = { false },
) =
    CircuitBreakerConfig(
        window,
        minimumCalls,
        failureRate,
        slowCall,
        slowRate,
        openFor,
        maxOpenFor,
        jitter,
        probes,
        failuresToOpen,
        probeTimeout = 5.seconds,
        isFailure = isFailure,
        ignoreIf = ignoreIf,
        failureResult = failureResult,
        clock = timeSource.asClock(),
    )

internal suspend fun CircuitBreaker.succeed() = protect {}

internal suspend fun CircuitBreaker.fail() {
    assertThrows<IOException> { protect { throw IOException() } }
}

/** Returns the exception's retryIn. */
internal suspend fun CircuitBreaker.refuse(): Duration =
    assertThrows<CircuitOpenException> { protect { throw AssertionError("let in") } }.retryIn

internal suspend fun CircuitBreaker.failUntilOpen() {
    repeat(config.minimumCalls) { fail() }
    assertEquals(BreakerState.OPEN, state)
}

/** A breaker in virtual time. */
@OptIn(ExperimentalCoroutinesApi::class)
internal val TestScope.breaker
    get() = CircuitBreaker(config(testTimeSource), "api")

/** The same, when its time in OPEN is over. */
internal suspend fun TestScope.halfOpen() =
    breaker.also {
        it.failUntilOpen()
        delay(10.seconds)
    }

/** A clock of users that throws on demand. */
internal class FailingClock : AbstractLongTimeSource(DurationUnit.NANOSECONDS) {
    var nanos = 0L
    var fails = false

    override fun read(): Long = if (fails) throw IllegalStateException("no time") else nanos
}

/** The call has succeeded. */
internal fun CircuitBreaker.leave(call: Any, start: Long) = leave(call, start, unjudged)
