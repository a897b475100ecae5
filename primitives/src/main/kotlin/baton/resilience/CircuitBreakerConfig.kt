@file:JvmSynthetic

package baton.resilience

import baton.BatonClock
import baton.Refusal
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds

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
 *     isFailure = { it is IOException },
 * )
 * ```
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
 * @property maxOpenFor the bound of that time, with its jitter.
 * @property jitter the randomness of that time, so that the clients of a service do not all probe it at once.
 * @property probes how many calls are let in at a time while the breaker is half open; so many successes close it.
 * @property probeTimeout after this time a probe that is not back loses its place. Its failure opens the breaker even
 *   then, its success changes nothing.
 * @property isFailure whether an exception of the block is a failure; one that is not counts as a success. By default
 *   every [Exception] is a failure. It is not called for cancellation, nor for a [Refusal], which count as nothing. If
 *   it throws, the call has failed, and throws that exception with its own as suppressed.
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
    public val probeTimeout: Duration = 30.seconds,
    public val isFailure: (Throwable) -> Boolean = EXCEPTIONS,
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
        requireTime("probeTimeout", probeTimeout)
    }

    private fun requireCount(name: String, count: Int) = require(count >= 1) { "$name = $count, must be at least 1" }

    private fun requireRate(name: String, rate: Double) =
        require(rate > 0.0 && rate <= 1.0) { "$name = $rate, must be above 0.0 and at most 1.0" }

    private fun requireTime(name: String, time: Duration) =
        require(time.isPositive()) { "$name = $time, must be above 0" }

    /** The settings as text, with another [window]. */
    internal fun textWith(window: SlidingWindow): String =
        "window = $window, minimumCalls = $minimumCalls, failureRate = $failureRate, slowCall = $slowCall, " +
            "slowRate = $slowRate, openFor = $openFor, probes = $probes"

    override fun toString(): String = "CircuitBreakerConfig (${textWith(window)})"

    private companion object {
        private val EXCEPTIONS: (Throwable) -> Boolean = { it is Exception }
    }
}

/** The configuration of a breaker that is given none. */
internal val DEFAULT_BREAKER_CONFIG: CircuitBreakerConfig = CircuitBreakerConfig()
