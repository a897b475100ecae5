package baton.resilience.breaker

import baton.resilience.Backoff
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitBreakers
import baton.resilience.SlidingWindow
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertDoesNotThrow
import org.junit.jupiter.api.assertThrows

/** The edges of every number. */
class CircuitBreakerParametersTest {
    private val counts = listOf(Int.MIN_VALUE, -1, 0, 1, 2, Int.MAX_VALUE - 1, Int.MAX_VALUE)
    private val times = listOf(-Duration.INFINITE, (-1).nanoseconds, Duration.ZERO, 1.nanoseconds, Duration.INFINITE)
    private val rates =
        listOf(Double.NaN, Double.NEGATIVE_INFINITY, -1.0, -0.0, 0.0, Double.MIN_VALUE, 0.5, 1.0) +
            listOf(Math.nextUp(1.0), Double.MAX_VALUE, Double.POSITIVE_INFINITY)

    /** A valid configuration is used, too. */
    private fun <V> check(name: String, values: List<V>, isValid: (V) -> Boolean, config: (V) -> CircuitBreakerConfig) {
        for (value in values) {
            if (isValid(value)) {
                assertDoesNotThrow({ "$name = $value" }) { use(CircuitBreaker(config(value))) }
            } else {
                val e = assertThrows<IllegalArgumentException>("$name = $value") { config(value) }
                assertTrue(e.message!!.startsWith("$name = $value, must be "), e.message)
            }
        }
    }

    private fun use(breaker: CircuitBreaker) = runBlocking {
        repeat(40) { runCatching { breaker.protect { if (it % 2 == 0) error("") } } }
        assertTrue(breaker.metrics.failureRate in 0.0..1.0)
        assertTrue(!breaker.retryIn.isNegative())
    }

    @Test
    fun counts_outOfTheirBounds_areRefusedWithValueAndBound() {
        val time = SlidingWindow.Time(1.seconds)
        check("minimumCalls", counts, { it >= 1 }) { CircuitBreakerConfig(time, minimumCalls = it) }
        check("minimumCalls", counts, { it in 1..2 }) { CircuitBreakerConfig(SlidingWindow.Calls(2), it) }
        check("probes", counts, { it >= 1 }) { CircuitBreakerConfig(probes = it) }
        check("failuresToOpen", counts, { it in 1..2 }) { CircuitBreakerConfig(probes = 2, failuresToOpen = it) }
        check("size", counts, { it >= 1 }) { CircuitBreakerConfig(SlidingWindow.Calls(it), minimumCalls = 1) }
    }

    @Test
    fun times_outOfTheirBounds_areRefusedWithValueAndBound() {
        val positive = { time: Duration -> time.isPositive() }
        check("length", times, positive) { CircuitBreakerConfig(SlidingWindow.Time(it)) }
        check("slowCall", times, positive) { CircuitBreakerConfig(slowCall = it) }
        check("maxOpenFor", times, positive) { CircuitBreakerConfig(maxOpenFor = it) }
        check("probeTimeout", times, positive) { CircuitBreakerConfig(probeTimeout = it) }
        check("openFor", times.drop(2), positive) { CircuitBreakerConfig(openFor = Backoff.constant(it)) }
        for (backoff in listOf(Backoff.exponential(Duration.ZERO), Backoff.fibonacci(Duration.ZERO))) assertThrows<
            IllegalArgumentException
        > {
            CircuitBreakerConfig(openFor = backoff)
        }
        check("time", times, positive) { CircuitBreakerConfig().also { config -> CircuitBreaker(config).openFor(it) } }
        for (idle in times) {
            if (idle.isPositive()) CircuitBreakers<Int>(keepIdle = idle).trip(1)
            else
                assertEquals(
                    "keepIdle = $idle, must be above 0",
                    assertThrows<IllegalArgumentException> { CircuitBreakers<Int>(keepIdle = idle) }.message,
                )
        }
    }

    @Test
    fun rates_outOfTheirBounds_areRefusedWithValueAndBound() {
        check("failureRate", rates, { it > 0 && it <= 1 }) { CircuitBreakerConfig(failureRate = it) }
        check("slowRate", rates, { it > 0 && it <= 1 }) { CircuitBreakerConfig(slowRate = it) }
    }

    @Test
    fun defaults_areThoseOfTheDocumentation() {
        val config = CircuitBreakerConfig()
        assertEquals(
            "CircuitBreakerConfig (window = Calls(size=100), minimumCalls = 10, failureRate = 0.5, " +
                "slowCall = Infinity, slowRate = 1.0, openFor = constant(30s), probes = 3, failuresToOpen = 1)",
            config.toString(),
        )
        assertEquals(listOf(true, false), listOf(config.isFailure(Exception()), config.ignoreIf(Exception())))
        assertEquals(false, config.failureResult(null))
        assertEquals("CircuitBreaker", CircuitBreaker().toString().substringBefore(" ("))
        assertEquals(
            "CircuitBreakers (size = 0, maxKeys = 100000, keepIdle = 1h)",
            CircuitBreakers<String>().toString(),
        )
    }

    @Test
    fun windowOfManyCalls_growsWithThem() = runBlocking {
        val breaker = CircuitBreaker(CircuitBreakerConfig(SlidingWindow.Calls(5_000), 5_000, failureRate = 1.0))
        repeat(20_001) { runCatching { breaker.protect { if (it % 5 == 0) error("") } } }
        assertEquals(5_000 to 0.2, breaker.metrics.calls to breaker.metrics.failureRate)
    }
}
