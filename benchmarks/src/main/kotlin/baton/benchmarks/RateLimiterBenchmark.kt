package baton.benchmarks

import baton.resilience.Rate
import baton.resilience.RateLimiter
import com.google.common.util.concurrent.RateLimiter as GuavaRateLimiter
import io.github.bucket4j.Bucket
import io.github.resilience4j.ratelimiter.RateLimiter as R4jRateLimiter
import io.github.resilience4j.ratelimiter.RateLimiterConfig
import java.time.Duration
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.intrinsics.startCoroutineUninterceptedOrReturn
import kotlin.time.Duration.Companion.seconds
import org.openjdk.jmh.annotations.Benchmark
import org.openjdk.jmh.annotations.Param
import org.openjdk.jmh.annotations.Scope
import org.openjdk.jmh.annotations.Setup
import org.openjdk.jmh.annotations.State
import org.openjdk.jmh.annotations.Threads

/**
 * One permit of a limiter that has one free at every call: a permit comes in each nanosecond, and a second's is saved.
 */
open class RateLimiterBenchmark : BatonBenchmark() {
    @State(Scope.Benchmark)
    open class Free {
        @Param("baton", "bucket4j", "guava", "resilience4j") lateinit var impl: String
        private lateinit var take: () -> Boolean

        @Setup
        fun create() {
            take =
                when (impl) {
                    "baton" -> RateLimiter.tokenBucket(Rate(PERMITS, 1.seconds)).let { { it.tryAcquire() } }
                    "bucket4j" -> bucket4j().let { { it.tryConsume(1) } }
                    "guava" -> GuavaRateLimiter.create(PERMITS.toDouble()).let { { it.tryAcquire() } }
                    "resilience4j" -> resilience4j().let { { it.acquirePermission() } }
                    else -> throw IllegalArgumentException("impl = $impl")
                }
            // A limiter that begins empty fills up.
            Thread.sleep(SECOND_MILLIS)
        }

        fun take() = check(take.invoke()) { "no permit was free" }
    }

    @State(Scope.Benchmark)
    open class Suspending {
        private val limiter = RateLimiter.tokenBucket(Rate(PERMITS, 1.seconds))
        private val end = Continuation<Unit>(EmptyCoroutineContext) { it.getOrThrow() }
        private val call: suspend () -> Unit = { limiter.acquire() }

        fun run(): Any? = call.startCoroutineUninterceptedOrReturn(end)
    }

    @Benchmark fun oneThread(state: Free) = state.take()

    @Benchmark @Threads(2) fun twoThreads(state: Free) = state.take()

    /** A suspending call that does not suspend, without a coroutine around it. */
    @Benchmark fun suspending(state: Suspending): Any? = state.run()

    private companion object {
        const val PERMITS = 1_000_000_000L
        const val SECOND_MILLIS = 1_000L

        fun bucket4j(): Bucket =
            Bucket.builder()
                .addLimit { it.capacity(PERMITS).refillGreedy(PERMITS, Duration.ofSeconds(1)) }
                .withNanosecondPrecision()
                .build()

        fun resilience4j(): R4jRateLimiter =
            R4jRateLimiter.of(
                "limiter",
                RateLimiterConfig.custom()
                    .limitForPeriod(PERMITS.toInt())
                    .limitRefreshPeriod(Duration.ofSeconds(1))
                    .timeoutDuration(Duration.ZERO)
                    .build(),
            )
    }
}
