package baton.resilience.limiter

import baton.asClock
import baton.resilience.Rate
import baton.resilience.RateLimiter
import baton.resilience.RateReservation
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.TestTimeSource
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Random loads of limiters of several rates, against a model that goes on nanosecond by nanosecond. */
class SeveralRatesModelTest {
    /** Counts in units, of which a token has `per`, and a nanosecond brings `permits`. */
    private class ModelBucket(val rate: Rate, val cap: Long, var units: Long = cap * rate.per.inWholeNanoseconds) {
        private val per = rate.per.inWholeNanoseconds

        val whole: Long
            get() = Math.floorDiv(units, per)

        fun tick() {
            units = minOf(units + rate.permits, cap * per)
        }

        fun take(n: Int) {
            units -= n * per
        }

        fun copy() = ModelBucket(rate, cap, units)
    }

    private class Model(val buckets: List<ModelBucket>, var time: Long = 0) {
        /** Reservations whose time has not come: what they are for. */
        val queue = ArrayList<Pair<Any, Int>>()
        val uses = ArrayList<Pair<Long, Int>>()

        fun tick() {
            time++
            buckets.forEach { it.tick() }
            settle()
        }

        fun settle() {
            while (queue.isNotEmpty() && has(queue[0].second)) take(queue.removeAt(0).second)
        }

        private fun has(n: Int) = buckets.all { it.whole >= n }

        private fun take(n: Int) {
            buckets.forEach { it.take(n) }
            uses += time to n
        }

        fun tryAcquire(n: Int) = (queue.isEmpty() && has(n)).also { if (it) take(n) }

        fun reserve(place: Any, n: Int) {
            queue += place to n
            settle()
        }

        fun cancel(place: Any) = queue.removeIf { it.first === place }.also { settle() }

        fun delayOf(place: Any): Long {
            val ahead = Model(buckets.map { it.copy() }, time).also { it.queue += queue }
            while (ahead.queue.any { it.first === place }) ahead.tick()
            return ahead.time - time
        }

        val available: Long
            get() = maxOf(0, buckets.minOf { it.whole } - queue.sumOf { it.second })

        fun assertBounds() {
            for (bucket in buckets) {
                for (first in uses.indices) {
                    var sum = 0L
                    for (last in first..uses.lastIndex) {
                        sum += uses[last].second
                        val window = uses[last].first - uses[first].first
                        val most = bucket.cap * bucket.rate.per.inWholeNanoseconds + bucket.rate.permits * window
                        assertTrue(sum * bucket.rate.per.inWholeNanoseconds <= most)
                    }
                }
            }
        }
    }

    @Test
    fun load_ofAnyKind_isServedAsByTheModel() {
        var reservations = 0
        var grants = 0
        repeat(2_000) { seed ->
            val random = Random(seed)
            val rates = List(random.nextInt(2, 4)) { Rate(random.nextLong(1, 9), random.nextInt(1, 30).nanoseconds) }
            val burst = random.nextLong(1, 9)
            val clock = TestTimeSource()
            val limiter =
                RateLimiter.of(rates[0], *rates.drop(1).toTypedArray(), burst = burst, clock = clock.asClock())
            val model = Model(rates.mapIndexed { i, rate -> ModelBucket(rate, if (i == 0) burst else rate.permits) })
            val places = ArrayList<RateReservation>()
            repeat(60) {
                val n = random.nextInt(1, limiter.burst.toInt() + 1)
                when (random.nextInt(8)) {
                    0,
                    1 -> assertEquals(model.tryAcquire(n), limiter.tryAcquire(n).also { if (it) grants++ })
                    2 -> places += limiter.reserve(n).also { model.reserve(it, n) }.also { reservations++ }
                    3 -> {
                        val maxWait = random.nextInt(40)
                        val probe = Any()
                        model.queue += probe to n
                        model.settle()
                        val wait = model.delayOf(probe)
                        val place = limiter.tryReserve(n, maxWait.nanoseconds)
                        assertEquals(wait <= maxWait, place != null)
                        if (wait > maxWait) model.cancel(probe)
                        else model.queue.replaceAll { if (it.first === probe) place!! to n else it }
                        if (place != null) places += place
                    }
                    4 -> places.randomOrNull(random)?.let { assertEquals(model.cancel(it), it.cancel()) }
                    5 -> places.randomOrNull(random)?.let { assertEquals(model.delayOf(it).nanoseconds, it.delay) }
                    else -> {
                        val nanos = random.nextInt(1, if (random.nextInt(4) == 0) 200 else 10)
                        clock += nanos.nanoseconds
                        repeat(nanos) { model.tick() }
                        if (random.nextBoolean()) assertEquals(model.available, limiter.availablePermits, "seed $seed")
                    }
                }
            }
            model.assertBounds()
            assertEquals(Duration.ZERO, limiter.metrics.waited)
        }
        assertTrue(reservations > 10_000 && grants > 5_000, "$reservations $grants")
    }
}
