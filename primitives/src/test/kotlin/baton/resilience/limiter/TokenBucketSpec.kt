package baton.resilience.limiter

import baton.resilience.Rate
import io.kotest.core.spec.style.FunSpec
import io.kotest.matchers.comparables.shouldBeGreaterThanOrEqualTo
import io.kotest.matchers.comparables.shouldBeLessThan
import io.kotest.matchers.shouldBe
import io.kotest.property.Arb
import io.kotest.property.arbitrary.bind
import io.kotest.property.arbitrary.choice
import io.kotest.property.arbitrary.element
import io.kotest.property.arbitrary.int
import io.kotest.property.arbitrary.list
import io.kotest.property.arbitrary.long
import io.kotest.property.arbitrary.map
import io.kotest.property.checkAll
import java.math.BigDecimal
import java.math.RoundingMode
import kotlin.time.Duration
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.nanoseconds

/** The arithmetic of the bucket against exact decimals, for any rate and for clocks that jump both ways. */
class TokenBucketSpec :
    FunSpec({
        test("any steps: the tokens are exact, and time never goes back") {
            checkAll(3_000, rates, caps, Arb.list(steps, 1..60)) { rate, cap, steps ->
                val bucket = TokenBucket(rate, cap)
                val reference = ExactBucket(rate, cap)
                for (step in steps) {
                    step(bucket, reference)
                    bucket.time shouldBe reference.time
                    bucket.whole shouldBe reference.whole
                }
            }
        }

        test("the time until any number of tokens is the first at which they are there") {
            checkAll(3_000, rates, Arb.list(steps, 0..10), Arb.long(1L..Long.MAX_VALUE / 2)) { rate, steps, tokens ->
                val bucket = TokenBucket(rate, Long.MAX_VALUE)
                val reference = ExactBucket(rate, Long.MAX_VALUE)
                bucket.take(Int.MAX_VALUE)
                reference.take(Int.MAX_VALUE)
                for (step in steps) step(bucket, reference)
                val wait = bucket.nanosUntil(tokens)
                if (bucket.whole >= tokens) {
                    wait shouldBe 0
                } else if (wait < Long.MAX_VALUE) {
                    reference.tokensAfter(wait) shouldBeGreaterThanOrEqualTo tokens.big
                    reference.tokensAfter(wait - 1) shouldBeLessThan tokens.big
                } else {
                    reference.tokensAfter(Long.MAX_VALUE - 1) shouldBeLessThan tokens.big
                }
            }
        }
    })

private typealias Step = (TokenBucket, ExactBucket) -> Unit

private val Long.big: BigDecimal
    get() = toBigDecimal()

/** As [TokenBucket]; it counts units, of which a token has as many as [nanos]. */
private class ExactBucket(rate: Rate, private var cap: Long) {
    private var permits = rate.permits.big
    private var nanos = rate.per.inWholeNanoseconds.big
    private var units = cap.big * nanos
    var time = 0L
        private set

    val whole: Long
        get() = units.divide(nanos, 0, RoundingMode.FLOOR).longValueExact()

    fun tokensAfter(wait: Long): BigDecimal = (units + permits * wait.big).divide(nanos, 0, RoundingMode.FLOOR)

    fun refill(now: Long) {
        if (now > time) {
            units = (units + permits * (now.big - time.big)).min(cap.big * nanos)
            time = now
        }
    }

    fun take(tokens: Int) {
        units -= nanos * tokens.toBigDecimal()
    }

    fun putBack(tokens: Int) {
        units = (units + nanos * tokens.toBigDecimal()).min(cap.big * nanos)
    }

    fun changeCap(cap: Long) {
        this.cap = cap
        units = units.min(cap.big * nanos)
    }

    /** The whole tokens stay, and a fraction of one as far as the new rate in lowest terms can express it. */
    fun changeRate(rate: Rate) {
        val whole = whole.big
        val fraction = units - whole * nanos
        val newNanos = rate.per.inWholeNanoseconds.big
        val lowest = newNanos.toBigInteger().gcd(rate.permits.toBigInteger()).toBigDecimal()
        val kept = (fraction * newNanos / lowest).divide(nanos, 0, RoundingMode.FLOOR)
        permits = rate.permits.big
        nanos = newNanos
        units = whole * newNanos + kept * lowest
    }
}

private fun longs(): Arb<Long> =
    Arb.choice(
        Arb.long(1L..100L),
        Arb.long(1L..10_000_000_000L),
        Arb.long(1L..Long.MAX_VALUE - 1),
        Arb.element(1, 2, 3, 7, 1_000, Long.MAX_VALUE - 1, Long.MAX_VALUE / 2, 1L shl 62),
    )

private val periods: Arb<Duration> =
    Arb.choice(longs().map { it.nanoseconds }, Arb.element(1.nanoseconds, 1.days, (292 * 365).days))

private val rates: Arb<Rate> = Arb.bind(longs(), periods) { permits, per -> Rate(permits, per) }

private val caps: Arb<Long> = Arb.choice(longs(), Arb.element(Long.MAX_VALUE))

/** Also ten years and more, ahead and back. */
private val jumps: Arb<Long> =
    Arb.choice(
        Arb.long(0L..1_000L),
        Arb.long(-10_000_000_000L..10_000_000_000L),
        Arb.element((3_650.days).inWholeNanoseconds, (-3_650.days).inWholeNanoseconds, Long.MAX_VALUE, Long.MIN_VALUE),
    )

private val steps: Arb<Step> =
    Arb.choice(
        jumps.map { jump ->
            { bucket, reference ->
                val now = bucket.time + jump
                // A sum that overflows is a reading before the origin.
                bucket.refill(now)
                reference.refill(now)
            }
        },
        Arb.choice(Arb.int(1..5), Arb.int(1..Int.MAX_VALUE)).map { tokens ->
            { bucket, reference ->
                bucket.take(tokens)
                reference.take(tokens)
            }
        },
        Arb.choice(Arb.int(1..5), Arb.int(1..Int.MAX_VALUE)).map { tokens ->
            { bucket, reference ->
                bucket.putBack(tokens)
                reference.putBack(tokens)
            }
        },
        caps.map { cap ->
            { bucket, reference ->
                bucket.changeCap(cap)
                reference.changeCap(cap)
            }
        },
        rates.map { rate ->
            { bucket, reference ->
                bucket.changeRate(rate)
                reference.changeRate(rate)
            }
        },
    )
