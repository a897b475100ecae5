package baton.benchmarks

import arrow.resilience.Schedule
import arrow.resilience.retry as arrowRetry
import baton.interop.AsyncRetry
import baton.resilience.RetryPolicy
import baton.resilience.retry
import dev.failsafe.Failsafe
import dev.failsafe.FailsafeExecutor
import dev.failsafe.RetryPolicy as FailsafePolicy
import dev.failsafe.spi.Scheduler
import io.github.resilience4j.retry.Retry
import java.util.concurrent.Callable
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import java.util.concurrent.Delayed
import java.util.concurrent.Executors
import java.util.concurrent.ScheduledExecutorService
import java.util.concurrent.ScheduledFuture
import java.util.concurrent.TimeUnit
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
import org.openjdk.jmh.annotations.TearDown

/** The cost of a retry around a call whose first attempt succeeds: three attempts, exponential from 1 s. */
open class RetryBenchmark : BatonBenchmark() {
    @State(Scope.Benchmark)
    open class Suspending {
        @Param("baton", "arrow") lateinit var impl: String
        private val policy = RetryPolicy()
        private val schedule = Schedule.exponential<Throwable>(1.seconds).and(Schedule.recurs(2))
        private val value = Any()
        private val end = Continuation<Any>(EmptyCoroutineContext) { it.getOrThrow() }
        private lateinit var call: suspend () -> Any

        @Setup
        fun create() {
            call =
                when (impl) {
                    "baton" -> suspend { retry(policy) { value } }
                    "arrow" -> suspend { schedule.arrowRetry { value } }
                    else -> throw IllegalArgumentException("impl = $impl")
                }
        }

        fun run(): Any? = call.startCoroutineUninterceptedOrReturn(end)
    }

    @State(Scope.Benchmark)
    open class Blocking {
        @Param("baton", "failsafe", "resilience4j") lateinit var impl: String
        private val value = Any()
        private val body = Callable { value }
        private lateinit var call: () -> Any

        @Setup
        fun create() {
            call =
                when (impl) {
                    "baton" -> AsyncRetry.builder().build().blocking().let { { it.call(body) } }
                    "failsafe" -> failsafe().let { { it.get(body::call) } }
                    "resilience4j" -> Retry.ofDefaults("retry").let { { it.executeCallable(body) } }
                    else -> throw IllegalArgumentException("impl = $impl")
                }
        }

        fun run(): Any = call()
    }

    @State(Scope.Benchmark)
    open class Future {
        @Param("baton", "failsafe", "resilience4j") lateinit var impl: String
        private val value = Any()
        private val done = CompletableFuture.completedFuture(value)
        private var stage = done
        private val body = Supplier<CompletionStage<Any>> { stage }
        private val timers: ScheduledExecutorService = Executors.newSingleThreadScheduledExecutor()
        private lateinit var call: () -> CompletionStage<Any>

        @Setup
        fun create() {
            call =
                when (impl) {
                    "baton" -> AsyncRetry.builder().build().let { { it.call(body) } }
                    "failsafe" -> failsafe().with(InPlace).let { { it.getStageAsync(body::get) } }
                    "resilience4j" -> Retry.ofDefaults("retry").let { { it.executeCompletionStage(timers, body) } }
                    else -> throw IllegalArgumentException("impl = $impl")
                }
        }

        @TearDown
        fun close() {
            timers.shutdown()
        }

        fun run(): Any = call().toCompletableFuture().join()

        fun runLater(): Any {
            val later = CompletableFuture<Any>()
            stage = later
            val future = call()
            later.complete(value)
            return future.toCompletableFuture().join()
        }
    }

    /** A suspending call, without a coroutine around it. */
    @Benchmark fun suspending(state: Suspending): Any? = state.run()

    /** A call on this thread. */
    @Benchmark fun blocking(state: Blocking): Any = state.run()

    /** A call whose stage is complete when the action returns. */
    @Benchmark fun future(state: Future): Any = state.run()

    /** A call whose stage completes after the action has returned it; the stage included. */
    @Benchmark fun futureLater(state: Future): Any = state.runLater()

    /** Runs tasks without a delay at once, on the same thread. (A plain executor drops the stage's value.) */
    private object InPlace : Scheduler {
        private class Done(value: Any?) : CompletableFuture<Any?>(), ScheduledFuture<Any?> {
            init {
                complete(value)
            }

            override fun getDelay(unit: TimeUnit) = 0L

            override fun compareTo(other: Delayed) = 0
        }

        private val done = Done(null)

        override fun schedule(callable: Callable<*>, delay: Long, unit: TimeUnit): ScheduledFuture<*> {
            check(delay == 0L) { "delay = $delay, must be 0" }
            callable.call()
            return done
        }
    }

    private companion object {
        fun failsafe(): FailsafeExecutor<Any> =
            Failsafe.with(
                FailsafePolicy.builder<Any>().withBackoff(1, 30, java.time.temporal.ChronoUnit.SECONDS).build()
            )
    }
}
