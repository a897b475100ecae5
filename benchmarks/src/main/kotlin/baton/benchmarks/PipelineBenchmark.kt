package baton.benchmarks

import baton.resilience.CircuitBreaker
import baton.resilience.RateLimiter
import baton.resilience.ResiliencePipeline
import baton.resilience.RetryPolicy
import baton.resilience.per
import baton.resilience.retry
import baton.resilience.withPermit
import baton.sync.Semaphore
import baton.sync.withPermit
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.intrinsics.startCoroutineUninterceptedOrReturn
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import org.openjdk.jmh.annotations.Benchmark
import org.openjdk.jmh.annotations.Param
import org.openjdk.jmh.annotations.Scope
import org.openjdk.jmh.annotations.Setup
import org.openjdk.jmh.annotations.State

/**
 * The cost of a call that succeeds in a pipeline with one layer, and of one with four, beside these layers by hand:
 * with the block inlined (`alone`), and with a block that is a value, as the pipeline gets it (`called`).
 */
open class PipelineBenchmark : BatonBenchmark() {
    @State(Scope.Benchmark)
    open class Layers {
        @Param("retry", "breaker", "limiter", "semaphore", "all") lateinit var layer: String
        @Param("baton", "alone", "called") lateinit var impl: String
        private val policy = RetryPolicy()
        private val breaker = CircuitBreaker()
        private val limiter = RateLimiter.tokenBucket(1_000_000_000 per 1.seconds)
        private val semaphore = Semaphore(4)
        private val value = Any()
        private val end = Continuation<Any>(EmptyCoroutineContext) { it.getOrThrow() }
        private lateinit var call: suspend () -> Any

        @Setup
        fun create() {
            val pipeline = pipeline()
            call =
                when (impl) {
                    "baton" -> suspend { pipeline.call { value } }
                    "called" -> suspend { called { value } }
                    else -> alone()
                }
        }

        private fun pipeline() =
            when (layer) {
                "retry" -> ResiliencePipeline(retry = policy)
                "breaker" -> ResiliencePipeline(breaker = breaker)
                "limiter" -> ResiliencePipeline(limiter = limiter)
                "semaphore" -> ResiliencePipeline(semaphore = semaphore)
                else -> ResiliencePipeline(retry = policy, breaker = breaker, limiter = limiter, semaphore = semaphore)
            }

        private fun alone(): suspend () -> Any =
            when (layer) {
                "retry" -> suspend { retry(policy) { value } }
                "breaker" -> suspend { breaker.protect { value } }
                "limiter" -> suspend { limiter.withPermit { value } }
                "semaphore" -> suspend { semaphore.withPermit { value } }
                else ->
                    suspend {
                        retry(policy) { breaker.protect { limiter.withPermit { semaphore.withPermit { value } } } }
                    }
            }

        private suspend fun called(block: suspend () -> Any): Any =
            when (layer) {
                "retry" -> retry(policy) { block() }
                "breaker" -> breaker.protect { block() }
                "limiter" -> limiter.guarded(Duration.INFINITE, block)
                "semaphore" -> semaphore.guarded(Duration.INFINITE, block)
                else ->
                    retry(policy) {
                        breaker.protect {
                            limiter.guarded(Duration.INFINITE) { semaphore.guarded(Duration.INFINITE, block) }
                        }
                    }
            }

        fun run(): Any? = call.startCoroutineUninterceptedOrReturn(end)
    }

    /** A suspending call, without a coroutine around it. */
    @Benchmark fun suspending(state: Layers): Any? = state.run()
}
