package baton.resilience

import baton.resilience.attempts.RetryArithmetic
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertDoesNotThrow
import org.junit.jupiter.api.assertThrows

/** The edges of every number. */
class RetryParametersTest {
    private val ints = listOf(Int.MIN_VALUE, -1, 0, 1, Int.MAX_VALUE)
    private val times = listOf(-Duration.INFINITE, (-1).nanoseconds, Duration.ZERO, 1.nanoseconds, Duration.INFINITE)
    private val doubles =
        listOf(Double.NaN, Double.NEGATIVE_INFINITY, -1.0, -Double.MIN_VALUE, -0.0, 0.0, Double.MIN_VALUE) +
            listOf(0.5, 1.0, 1.0.let(Math::nextUp), Double.MAX_VALUE, Double.POSITIVE_INFINITY)

    private fun <V> check(name: String, values: List<V>, isValid: (V) -> Boolean, use: (V) -> Any?) {
        for (value in values) {
            if (isValid(value)) assertDoesNotThrow({ "$name = $value" }) { use(value) }
            else {
                val e = assertThrows<IllegalArgumentException>("$name = $value") { use(value) }
                assertTrue(e.message!!.startsWith("$name = $value, must be "), e.message)
            }
        }
    }

    @Test
    fun ints_outOfTheirBounds_areRefusedWithValueAndBound() {
        check("maxAttempts", ints, { it >= 1 }) { RetryPolicy(maxAttempts = it) }
        check("burst", ints, { it >= 0 }) { assertEquals(it, RetryBudget(burst = it).available) }
        val backoffs = listOf(Backoff.constant(1.seconds), Backoff.exponential(1.seconds), Backoff.fibonacci(1.seconds))
        for (backoff in backoffs) check("attempt", ints, { it >= 1 }) { backoff.delay(it) }
    }

    @Test
    fun times_outOfTheirBounds_areRefusedWithValueAndBound() {
        val notNegative = { time: Duration -> !time.isNegative() }
        check("maxDelay", times, notNegative) { RetryPolicy(maxDelay = it) }
        check("maxElapsed", times, notNegative) { RetryPolicy(maxElapsed = it) }
        check("maxRetryAfter", times, notNegative) { RetryPolicy(maxRetryAfter = it) }
        check("attemptTimeout", times, { it.isPositive() }) { RetryPolicy(attemptTimeout = it) }
        check("delay", times, notNegative) { Backoff.constant(it) }
        check("base", times, notNegative) { Backoff.exponential(it).delay(Int.MAX_VALUE) }
        check("base", times, notNegative) { Backoff.fibonacci(it).delay(Int.MAX_VALUE) }
    }

    @Test
    fun doubles_outOfTheirBounds_areRefusedWithValueAndBound() {
        check("factor", doubles, { it >= 1 && it.isFinite() }) { Backoff.exponential(1.seconds, it).delay(10_000) }
        check("factor", doubles, { it in 0.0..1.0 }) { Jitter.Factor(it) }
        check("ratio", doubles, { it >= 0 && it.isFinite() }) { RetryBudget(ratio = it).earn() }
    }

    @Test
    fun retryAfter_negative_isNone() =
        assertEquals(Duration.ZERO, RetryArithmetic(noBackoff).waitAfter(1, (-1).seconds) { error("") })

    @Test
    fun backoff_negative_isZero() {
        val policy = RetryPolicy(backoff = { (-1).seconds })
        assertEquals(Duration.ZERO, RetryArithmetic(policy).waitAfter(1, null) { error("") })
    }

    @Test
    fun backoffs_ofAnyBase_beginWithItAndDoNotShrink() {
        val bases = listOf(Duration.ZERO, 1.nanoseconds, (200 * 365).days, (1000 * 365).days, Duration.INFINITE)
        for (base in bases) for (backoff in
            listOf(Backoff.constant(base), Backoff.exponential(base), Backoff.fibonacci(base))) {
            val delays = listOf(1, 2, 3, 4, 100, 10_000, Int.MAX_VALUE).map { backoff.delay(it) }
            assertEquals(base, delays.first(), "$backoff")
            assertEquals(delays.sorted(), delays, "$backoff")
        }
    }

    @Test
    fun waits_ofAnyBase_areWithinMaxDelay() {
        val bases = listOf((146 * 365).days, (147 * 365).days, (293 * 365).days, Duration.INFINITE)
        for (base in bases) for (most in bases) for (jitter in
            listOf(Jitter.None, Jitter.Full, Jitter.Equal, Jitter.Decorrelated, Jitter.Factor(1.0))) {
            val policy = RetryPolicy(100, Backoff.exponential(base), jitter, maxDelay = most)
            val arithmetic = RetryArithmetic(policy)
            for (attempt in listOf(1, 2, 99)) {
                val wait = arithmetic.waitAfter(attempt, null) { error("no bound of the elapsed time") }
                assertTrue(wait in Duration.ZERO..most, "$wait of $base, $most, $jitter")
            }
        }
    }

    /** A Double has 53 bits, and so no single nanoseconds beyond 104 days. */
    @Test
    fun jitter_ofALongBackoff_isNotCoarse() {
        val policy =
            RetryPolicy(
                maxDelay = Duration.INFINITE,
                jitter = Jitter.Full,
                backoff = Backoff.constant((100 * 365).days),
            )
        val arithmetic = RetryArithmetic(policy)
        val random = Random(1)
        assertEquals((0L..7).toSet(), List(1000) { arithmetic.backoffAfter(1, random) % 8 }.toSet())
    }

    /** A generator with a fixed start is not thread-safe by itself. */
    @Test
    fun random_ofCallsAtTheSameTime_isUsedByOneAtATime() {
        val inside = AtomicInteger()
        val most = AtomicInteger()
        lateinit var second: Thread
        val random =
            object : Random() {
                override fun nextBits(bitCount: Int): Int {
                    most.accumulateAndGet(inside.incrementAndGet(), ::maxOf)
                    if (Thread.currentThread() !== second) {
                        if (second.state == Thread.State.NEW) second.start()
                        while (most.get() < 2 && second.state != Thread.State.BLOCKED) Thread.onSpinWait()
                    }
                    inside.decrementAndGet()
                    return 0
                }
            }
        val policy = RetryPolicy(random = random)
        second = thread(start = false) { RetryArithmetic(policy).backoffAfter(1, random) }
        RetryArithmetic(policy).backoffAfter(1, random)
        second.join()
        assertEquals(1, most.get())
    }

    private val noBackoff = RetryPolicy(backoff = Backoff.constant(Duration.ZERO))

    @Test
    fun texts_nameWhatTheyAreOf() {
        assertEquals(
            "RetryPolicy 'api' (maxAttempts = 3, backoff = exponential(1s, factor = 2.0), " +
                "jitter = Factor(factor=0.5), maxDelay = 30s)",
            RetryPolicy(name = "api").toString(),
        )
        assertEquals("RetryBudget (available = 10 of 10, ratio = 0.2)", RetryBudget().toString())
        assertEquals("fibonacci(1s) constant(2s)", "${Backoff.fibonacci(1.seconds)} ${Backoff.constant(2.seconds)}")
        assertEquals("attempt 1 after 0s", FIRST_ATTEMPT.toString())
    }
}
