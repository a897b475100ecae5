package baton.benchmarks

import arrow.resilience.CircuitBreaker as ArrowBreaker
import baton.interop.AsyncCircuitBreaker
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.SlidingWindow
import io.github.resilience4j.circuitbreaker.CircuitBreaker as Resilience4jBreaker
import java.util.concurrent.Callable
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import java.util.function.Supplier
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
 * The cost of a closed breaker around a call that succeeds. `timed` and `windowed` are ours with calls that are timed,
 * or with a window of time, which takes the lock for each call.
 */
open class CircuitBreakerBenchmark : BatonBenchmark() {
    @State(Scope.Benchmark)
    open class Suspending {
        @Param("baton", "timed", "windowed", "arrow", "resilience4j") lateinit var impl: String
        private val value = Any()
        private val end = Continuation<Any>(EmptyCoroutineContext) { it.getOrThrow() }
        private lateinit var call: suspend () -> Any

        @Setup
        fun create() {
            val breaker =
                CircuitBreaker(
                    when (impl) {
                        "timed" -> CircuitBreakerConfig(slowCall = 2.seconds)
                        "windowed" -> CircuitBreakerConfig(SlidingWindow.Time(1_000_000.seconds))
                        else -> CircuitBreakerConfig()
                    }
                )
            val arrow = ArrowBreaker(30.seconds, ArrowBreaker.OpeningStrategy.Count(50))
            val resilience4j = Resilience4jBreaker.ofDefaults("breaker")
            call =
                when (impl) {
                    "baton",
                    "timed",
                    "windowed" -> suspend { breaker.protect { value } }
                    "arrow" -> suspend { arrow.protectOrThrow { value } }
                    // As resilience4j's module for Kotlin wraps a suspending call.
                    "resilience4j" -> suspend { resilience4j.protect { value } }
                    else -> throw IllegalArgumentException("impl = $impl")
                }
        }

        fun run(): Any? = call.startCoroutineUninterceptedOrReturn(end)
    }

    @State(Scope.Benchmark)
    open class Blocking {
        @Param("baton", "resilience4j") lateinit var impl: String
        private val value = Any()
        private lateinit var call: Callable<Any>

        @Setup
        fun create() {
            call =
                when (impl) {
                    "baton" -> AsyncCircuitBreaker.create(null).blocking().let { Callable { it.call { value } } }
                    "resilience4j" ->
                        Resilience4jBreaker.decorateCallable(Resilience4jBreaker.ofDefaults("breaker")) { value }
                    else -> throw IllegalArgumentException("impl = $impl")
                }
        }

        fun run(): Any = call.call()
    }

    @State(Scope.Benchmark)
    open class Future {
        @Param("baton", "resilience4j") lateinit var impl: String
        private val value = Any()
        private val done = CompletableFuture.completedFuture(value)
        private val ours = AsyncCircuitBreaker.create(null)
        private val theirs = Resilience4jBreaker.ofDefaults("breaker")

        @Setup
        fun check() {
            require(impl == "baton" || impl == "resilience4j") { "impl = $impl" }
        }

        private fun protect(stage: CompletableFuture<Any>): CompletionStage<Any> {
            val body = Supplier<CompletionStage<Any>> { stage }
            return if (impl == "baton") ours.protect(body)
            else Resilience4jBreaker.decorateCompletionStage(theirs, body).get()
        }

        fun runCompleted(): Any = protect(done).toCompletableFuture().join()

        fun runPending(): Any {
            val stage = CompletableFuture<Any>()
            val future = protect(stage)
            stage.complete(value)
            return future.toCompletableFuture().join()
        }
    }

    /** A suspending call, without a coroutine around it. */
    @Benchmark fun suspending(state: Suspending): Any? = state.run()

    /** The same from two threads. */
    @Benchmark @Threads(2) fun suspendingTwoThreads(state: Suspending): Any? = state.run()

    /** A call on this thread. */
    @Benchmark fun blocking(state: Blocking): Any = state.run()

    @Benchmark @Threads(2) fun blockingTwoThreads(state: Blocking): Any = state.run()

    /** A call whose stage is complete when the action returns. */
    @Benchmark fun futureCompleted(state: Future): Any = state.runCompleted()

    /** A call whose stage completes later. */
    @Benchmark fun futurePending(state: Future): Any = state.runPending()

    @Benchmark @Threads(2) fun futurePendingTwoThreads(state: Future): Any = state.runPending()

    private companion object {
        suspend inline fun <T : Any> Resilience4jBreaker.protect(block: () -> T): T {
            acquirePermission()
            val start = currentTimestamp
            try {
                val value = block()
                onResult(currentTimestamp - start, timestampUnit, value)
                return value
            } catch (e: Throwable) {
                onError(currentTimestamp - start, timestampUnit, e)
                throw e
            }
        }
    }
}
