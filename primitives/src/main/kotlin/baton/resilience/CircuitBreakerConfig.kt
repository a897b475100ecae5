@file:JvmSynthetic

package baton.resilience

import baton.BatonClock
import baton.Refusal
import baton.monitoring.CallOutcome
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.TimeoutCancellationException

/**
 * When a [CircuitBreaker] opens and closes.
 *
 * ```
 * val config = CircuitBreakerConfig(
 *     window = SlidingWindow.Time(10.seconds),
 *     minimumCalls = 20,
 *     slowCall = 2.seconds,
 *     slowRate = 0.8,
 *     openFor = Backoff.exponential(5.seconds),
 *     maxOpenFor = 2.minutes,
 *     ignoreIf = { it is ValidationException },
 *     failureResult = { it is Response && it.status >= 500 },
 * )
 * ```
 *
 * *Outcomes.* A call is a success, a failure or nothing. In this order: a cancellation, a [Refusal], an [Error] and
 * what [ignoreIf] accepts are nothing; an exception that [isFailure] accepts is a failure; so is a value that
 * [failureResult] accepts; everything else is a success. If one of these functions throws, the call is a failure, and
 * throws that exception, with its own as suppressed.
 *
 * It is immutable apart from its [random] and [clock], and any number of breakers may share it. Its functions are
 * called without a lock, on the threads of the calls.
 *
 * *Misuse.* Rates outside 0.0 (exclusive) to 1.0, counts below 1, times that are zero or negative, and [minimumCalls]
 * above the size of a [SlidingWindow.Calls] throw [IllegalArgumentException].
 *
 * @property window the calls that count.
 * @property minimumCalls with fewer calls than this in the window the breaker does not open.
 * @property failureRate with this share of failures in the window, or more, the breaker opens.
 * @property slowCall a call that succeeds and takes longer than this is slow. By default none is.
 * @property slowRate with this share of slow calls in the window, or more, the breaker opens.
 * @property openFor how long the breaker is open; its attempts are the openings in a row, beginning with 1. If it
 *   throws, that is reported to the thread's handler of uncaught exceptions, and the breaker is open for [maxOpenFor].
 * @property maxOpenFor the bound of that time, with its jitter. A [Backoff.constant] has none.
 * @property jitter the randomness of that time, so that the clients of a service do not all probe it at once.
 * @property probes how many calls are let in at a time while the breaker is half open.
 * @property failuresToOpen so many failures of [probes] results open the breaker again, within 1 and [probes]. It
 *   closes when so many have succeeded that this cannot happen any more: with 1, when all have.
 * @property probeTimeout after this time a probe that is not back loses its place. Its failure counts even then, its
 *   success does not.
 * @property isFailure whether an exception of the block is a failure; one that is not counts as a success of the
 *   callee. By default each is a failure.
 * @property ignoreIf whether an exception of the block counts as nothing, because it says nothing about the callee. By
 *   default none does.
 * @property failureResult whether a value of the block counts as a failure. By default none does.
 * @property random the source of the jitter.
 * @property clock by default that of the system, or of a test with virtual time: see [BatonClock]. One that goes back
 *   counts as standing still. So does one that throws at the end of a call; that is reported to the thread's handler of
 *   uncaught exceptions. At the start of a call its exception is thrown.
 */
public class CircuitBreakerConfig(
    public val window: SlidingWindow = SlidingWindow.Calls(100),
    public val minimumCalls: Int = 10,
    public val failureRate: Double = 0.5,
    public val slowCall: Duration = Duration.INFINITE,
    public val slowRate: Double = 1.0,
    public val openFor: Backoff = Backoff.constant(30.seconds),
    public val maxOpenFor: Duration = 5.minutes,
    public val jitter: Jitter = Jitter.Factor(0.2),
    public val probes: Int = 3,
    public val failuresToOpen: Int = 1,
    public val probeTimeout: Duration = 30.seconds,
    public val isFailure: (Throwable) -> Boolean = EACH,
    public val ignoreIf: (Throwable) -> Boolean = NO_EXCEPTION,
    public val failureResult: (Any?) -> Boolean = NO_RESULT,
    public val random: Random = Random.Default,
    public val clock: BatonClock? = null,
) {
    init {
        requireCount("minimumCalls", minimumCalls)
        if (window is SlidingWindow.Calls)
            require(minimumCalls <= window.size) {
                "minimumCalls = $minimumCalls, must be at most ${window.size}, the calls of the window"
            }
        requireRate("failureRate", failureRate)
        requireTime("slowCall", slowCall)
        requireRate("slowRate", slowRate)
        // The delay of another back-off is unknown before the breaker opens.
        if (openFor.isOfBaton) requireTime("openFor", openFor.delay(1))
        requireTime("maxOpenFor", maxOpenFor)
        requireCount("probes", probes)
        require(failuresToOpen in 1..probes) {
            "failuresToOpen = $failuresToOpen, must be within 1..$probes, the probes"
        }
        requireTime("probeTimeout", probeTimeout)
    }

    private fun requireCount(name: String, count: Int) = require(count >= 1) { "$name = $count, must be at least 1" }

    private fun requireRate(name: String, rate: Double) =
        require(rate > 0.0 && rate <= 1.0) { "$name = $rate, must be above 0.0 and at most 1.0" }

    private fun requireTime(name: String, time: Duration) =
        require(time.isPositive()) { "$name = $time, must be above 0" }

    /** Null if no value is a failure. */
    internal val failureResultOrNull: ((Any?) -> Boolean)?
        get() = failureResult.takeIf { it !== NO_RESULT }

    internal val judgesResults: Boolean
        get() = failureResult !== NO_RESULT

    /** @param isActive whether the caller is not cancelled. */
    internal fun outcomeOf(failure: Throwable, isActive: Boolean): CallOutcome =
        when {
            !isActive || failure is CancellationException && failure !is TimeoutCancellationException ->
                CallOutcome.IGNORED
            failure is Refusal -> CallOutcome.REFUSED
            failure is Error || ignoreIf(failure) -> CallOutcome.IGNORED
            isFailure(failure) -> CallOutcome.FAILURE
            else -> CallOutcome.SUCCESS
        }

    internal fun outcomeOf(result: Any?): CallOutcome =
        if (failureResult(result)) CallOutcome.FAILURE else CallOutcome.SUCCESS

    /** The settings as text, with another [window]. */
    internal fun textWith(window: SlidingWindow): String =
        "window = $window, minimumCalls = $minimumCalls, failureRate = $failureRate, slowCall = $slowCall, " +
            "slowRate = $slowRate, openFor = $openFor, probes = $probes, failuresToOpen = $failuresToOpen"

    override fun toString(): String = "CircuitBreakerConfig (${textWith(window)})"

    private companion object {
        private val EACH: (Throwable) -> Boolean = { true }
        private val NO_EXCEPTION: (Throwable) -> Boolean = { false }
        private val NO_RESULT: (Any?) -> Boolean = { false }
    }
}

/** The configuration of a breaker that is given none. */
internal val DEFAULT_BREAKER_CONFIG: CircuitBreakerConfig = CircuitBreakerConfig()
