package baton.resilience

import baton.resilience.attempts.RetryArithmetic
import io.kotest.core.spec.style.FunSpec
import io.kotest.matchers.comparables.shouldBeLessThanOrEqualTo
import io.kotest.matchers.longs.shouldBeInRange
import io.kotest.matchers.shouldBe
import io.kotest.property.Arb
import io.kotest.property.Exhaustive
import io.kotest.property.arbitrary.choice
import io.kotest.property.arbitrary.constant
import io.kotest.property.arbitrary.element
import io.kotest.property.arbitrary.int
import io.kotest.property.arbitrary.long
import io.kotest.property.arbitrary.map
import io.kotest.property.arbitrary.numericDouble
import io.kotest.property.checkAll
import io.kotest.property.exhaustive.ints
import java.math.BigDecimal
import java.math.MathContext
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds

/** The delays against exact arithmetic. */
class BackoffSpec :
    FunSpec({
        test("exponential: the base times the power, to 12 digits, never negative") {
            checkAll(bases, factors, attempts) { base, factor, attempt ->
                val delay = Backoff.exponential(base.nanoseconds, factor).delay(attempt).inWholeNanoseconds
                val power = BigDecimal(factor).pow(minOf(attempt - 1, 1_000_000), MathContext.DECIMAL128)
                val exact = (BigDecimal(base.nanoseconds.inWholeNanoseconds) * power).min(LONGEST)
                (BigDecimal(delay) - exact).abs() shouldBeLessThanOrEqualTo (exact.movePointLeft(12) + BigDecimal.ONE)
            }
        }

        test("exponential of two: exact, as long as it fits") {
            checkAll(Arb.long(1L..1_000_000_000), Arb.int(1..20)) { base, attempt ->
                Backoff.exponential(base.nanoseconds).delay(attempt).inWholeNanoseconds shouldBe
                    base * (1L shl (attempt - 1))
            }
        }

        test("fibonacci: each is the sum of the two before it") {
            Exhaustive.ints(1..12).values.map { Backoff.fibonacci(1.seconds).delay(it).inWholeSeconds } shouldBe
                listOf<Long>(1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144)
            checkAll(bases, attempts) { base, attempt ->
                val backoff = Backoff.fibonacci(base.nanoseconds)
                val now = backoff.delay(attempt)
                if (attempt < Int.MAX_VALUE) now shouldBeLessThanOrEqualTo backoff.delay(attempt + 1)
                if (attempt > 2) {
                    val sum = backoff.delay(attempt - 1).big() + backoff.delay(attempt - 2).big()
                    // Beyond 146 years a Duration has milliseconds alone.
                    (now.big() - sum.min(LONGEST)).abs() shouldBeLessThanOrEqualTo BigDecimal(4_000_000)
                }
            }
        }

        test("waits with jitter are within their bounds and maxDelay, for all numbers") {
            checkAll(5_000, jitters, bases, bases, attempts, Arb.long()) { jitter, base, most, attempt, seed ->
                val policy =
                    RetryPolicy(
                        maxAttempts = Int.MAX_VALUE,
                        backoff = Backoff.exponential(base.nanoseconds),
                        jitter = jitter,
                        maxDelay = most.nanoseconds,
                    )
                val arithmetic = RetryArithmetic(policy)
                val random = Random(seed)
                var previous = base.nanoseconds.inWholeNanoseconds
                repeat(5) {
                    val longest = policy.maxDelay.inWholeNanoseconds
                    val wait = arithmetic.backoffAfter(attempt, random)
                    wait shouldBeInRange 0..longest
                    val exact = policy.backoff.delay(attempt).inWholeNanoseconds.coerceAtMost(longest)
                    wait shouldBeInRange bounds(jitter, exact, base.nanoseconds.inWholeNanoseconds, previous, longest)
                    previous = wait
                }
            }
        }

        test("a wait is never before the Retry-After, nor for a longer one than is allowed") {
            checkAll(bases, bases, bases) { base, retryAfter, most ->
                val policy = RetryPolicy(backoff = Backoff.constant(base.nanoseconds), maxRetryAfter = most.nanoseconds)
                val asked = retryAfter.nanoseconds
                val wait = RetryArithmetic(policy).waitAfter(1, asked) { error("no bound of the elapsed time") }
                (wait == RetryArithmetic.GIVE_UP) shouldBe (asked > policy.maxRetryAfter)
                if (wait != RetryArithmetic.GIVE_UP) asked shouldBeLessThanOrEqualTo wait
            }
        }
    }) {
    private companion object {
        val LONGEST = BigDecimal(Long.MAX_VALUE)
        val bases: Arb<Long> =
            Arb.choice(Arb.long(0L..10_000_000_000), Arb.element(0, 1, Long.MAX_VALUE / 2, Long.MAX_VALUE))
        val factors: Arb<Double> =
            Arb.choice(Arb.element(1.0, 1.5, 2.0, Double.MAX_VALUE), Arb.numericDouble(1.0, 10.0))
        val attempts: Arb<Int> = Arb.choice(Arb.int(1..100), Arb.element(1, 1023, 1024, 1025, 10_000, 1_000_000))
        val jitters: Arb<Jitter> =
            Arb.choice(
                Arb.constant(Jitter.None),
                Arb.constant(Jitter.Full),
                Arb.constant(Jitter.Equal),
                Arb.constant(Jitter.Decorrelated),
                Arb.numericDouble(0.0, 1.0).map { Jitter.Factor(it) },
            )

        fun Duration.big() = BigDecimal(inWholeNanoseconds)

        fun bounds(jitter: Jitter, exact: Long, base: Long, previous: Long, longest: Long): LongRange =
            when (jitter) {
                Jitter.None -> exact..exact
                Jitter.Full -> 0..exact
                Jitter.Equal -> exact / 2..exact
                Jitter.Decorrelated -> {
                    val most = (BigDecimal(previous) * BigDecimal(3)).min(LONGEST).toLong()
                    minOf(base, longest)..minOf(maxOf(base, most), longest)
                }
                is Jitter.Factor -> {
                    val spread = BigDecimal(exact) * BigDecimal(jitter.factor)
                    val room = spread.movePointLeft(12) + BigDecimal.ONE
                    val low = (BigDecimal(exact) - spread - room).max(BigDecimal.ZERO).toLong()
                    low..(BigDecimal(exact) + spread + room).min(BigDecimal(longest)).toLong()
                }
            }
    }
}
