package baton.stress.resilience

import baton.asClock
import baton.resilience.Rate
import baton.resilience.RateLimiter
import baton.stress.Stress
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicLong
import kotlin.time.AbstractLongTimeSource
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.DurationUnit
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

class RateLimiterStressTest : Stress() {
    /** A nanosecond of its clock brings a token. The burst is above all tokens that are ever made: none overflows. */
    private class Counted(isOfTwoRates: Boolean) {
        val made = AtomicLong()
        private val clock =
            object : AbstractLongTimeSource(DurationUnit.NANOSECONDS) {
                override fun read() = made.get()
            }
        private val most = Int.MAX_VALUE.toLong()
        private val others = if (isOfTwoRates) arrayOf(Rate(most, most.nanoseconds)) else arrayOf()
        val limiter =
            RateLimiter.of(Rate(1, 1.nanoseconds), *others, burst = most, clock = clock.asClock()).also {
                check(it.tryAcquire(Int.MAX_VALUE))
            }
        val granted = AtomicLong()

        fun use(permits: Int) {
            granted.addAndGet(permits.toLong())
        }

        fun assertNothingLost() {
            assertEquals(0, limiter.waiting)
            assertEquals(made.get(), granted.get() + limiter.availablePermits)
            assertEquals(granted.get(), limiter.metrics.granted - most)
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = [false, true])
    fun crowd_cancelledTimedAndReserving_losesAndInventsNoToken(isOfTwoRates: Boolean) {
        val counted = Counted(isOfTwoRates)
        val limiter = counted.limiter
        val isOver = AtomicBoolean()
        stress(limiter) {
            val crowd =
                crowd(CROWD, { counted.made.get() < TOKENS }, 5.milliseconds) {
                    val permits = random.nextInt(1, 4)
                    when (random.nextInt(8)) {
                        0 -> if (limiter.tryAcquire(permits)) counted.use(permits)
                        1,
                        2 -> if (limiter.tryAcquire(permits, soon())) counted.use(permits)
                        3 -> {
                            val maxWait = if (random.nextBoolean()) Duration.INFINITE else soon()
                            val reservation = limiter.tryReserve(permits, maxWait) ?: return@crowd
                            try {
                                yieldSometimes()
                            } finally {
                                if (!reservation.cancel()) counted.use(permits)
                            }
                        }
                        else -> {
                            limiter.acquire(permits)
                            counted.use(permits)
                        }
                    }
                }
            // Its readings, and so its tokens, come at any moment; no operation follows them at once. It does not run
            // ahead of the crowd, which would then find tokens without waiting, and use few of them.
            val time = launch {
                while (!isOver.get()) {
                    if (counted.made.get() - counted.granted.get() < AHEAD)
                        counted.made.addAndGet(random.nextLong(1, 5))
                    yield()
                }
            }
            crowd.joinAll()
            isOver.set(true)
            time.join()
        }
        counted.assertNothingLost()
        assertTrue(counted.granted.get() > TOKENS / 4, "only ${counted.granted} granted")
    }

    /** All of them wait for one timer after the other, on dispatchers with clocks of their own. */
    @Test
    fun waiters_onTheRealClock_areAllServedWithinTheBound() {
        val limiter = RateLimiter.tokenBucket(Rate(20_000, 1.seconds), burst = 20)
        val granted = AtomicLong()
        val start = System.nanoTime()
        stress(limiter) {
            repeat(CROWD) {
                launch {
                    repeat(200) {
                        val victim = launch {
                            limiter.acquire(random.nextInt(1, 3))
                            granted.incrementAndGet()
                        }
                        if (chance(3)) victim.cancel()
                        victim.join()
                        watchdog.progress()
                    }
                }
            }
        }
        assertTrue(granted.get() <= 20 + (System.nanoTime() - start) / 50_000)
        assertEquals(0, limiter.waiting)
    }

    private companion object {
        const val CROWD = 16
        const val TOKENS = 200_000L

        /** More than the crowd can ask for at a time. */
        const val AHEAD = 4L * CROWD
    }
}
