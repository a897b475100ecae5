package baton.interop

import baton.CallGuard
import baton.asClock
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.ResiliencePipeline
import baton.resilience.pipeline.PipelineContract
import baton.resilience.pipeline.PipelineFace
import baton.sync.Semaphore
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import java.util.function.Function
import java.util.function.Supplier
import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TestTimeSource
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart.UNDISPATCHED
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/** Stages that are complete when the action returns, or that another thread completes. */
private class JavaPipelineFace(private val begin: (() -> Any?) -> CompletionStage<Any?>) : PipelineFace {
    @Suppress("UNCHECKED_CAST")
    override fun <T> call(pipeline: ResiliencePipeline, fallback: ((Throwable) -> T)?, block: () -> T): T {
        val async = AsyncPipeline.of(pipeline)
        val action = Supplier { begin(block) as CompletionStage<T> }
        if (fallback == null) return async.call(action).valueOrThrow()
        return async.call(action, Function { e -> begin { fallback(e) } as CompletionStage<T> }).valueOrThrow()
    }
}

private object BlockingPipelineFace : PipelineFace {
    override fun <T> call(pipeline: ResiliencePipeline, fallback: ((Throwable) -> T)?, block: () -> T): T {
        val blocking = AsyncPipeline.of(pipeline).blocking()
        return if (fallback == null) blocking.call { block() } else blocking.call({ block() }, { e -> fallback(e) })
    }
}

class JavaThrowingPipelineTest : PipelineContract(JavaPipelineFace(::inPlace))

class JavaFailedStagePipelineTest : PipelineContract(JavaPipelineFace(::failedStage))

class JavaAsynchronousPipelineTest : PipelineContract(JavaPipelineFace { CompletableFuture.supplyAsync(it) })

class BlockingPipelineContractTest : PipelineContract(BlockingPipelineFace)

class PipelineLayersTest {
    /** A wait for permits made a fast callee slow, and its breaker open. */
    @ParameterizedTest
    @ValueSource(booleans = [true, false])
    fun durationsOfTheBreaker_beginAfterTheWaits(blocks: Boolean) {
        val clock = TestTimeSource()
        val breaker = CircuitBreaker(CircuitBreakerConfig(slowCall = 30.seconds, clock = clock.asClock()))
        val semaphore = Semaphore(1, acquired = 1)
        val pipeline = AsyncPipeline.of(ResiliencePipeline(breaker = breaker, semaphore = semaphore))
        val call =
            if (blocks) CompletableFuture.supplyAsync { pipeline.blocking().call { "x" } }
            else pipeline.call { CompletableFuture.completedFuture("x") }
        while (semaphore.waiting == 0) Thread.onSpinWait()
        clock += 1.minutes
        semaphore.release()
        assertEquals("x", call.valueOrThrow())
        assertEquals(1 to 0.0, breaker.metrics.calls to breaker.metrics.slowRate)
        pipeline.call { CompletableFuture.completedFuture(clock.plusAssign(1.minutes)) }.valueOrThrow()
        assertEquals(0.5, breaker.metrics.slowRate)
    }

    @Test
    fun guardThatSuspends_isRefused() {
        val guard =
            object : CallGuard {
                override suspend fun <T> guarded(maxWait: Duration, block: suspend () -> T): T = block()

                override fun toString() = "my quota"
            }
        val e = assertThrows<IllegalArgumentException> { AsyncPipeline.of(ResiliencePipeline(limiter = guard)) }
        assertEquals(
            "limiter = my quota, must be a RateLimiter, a Semaphore or a guard of Java: another one suspends",
            e.message,
        )
        assertThrows<IllegalArgumentException> { AsyncPipeline.of(ResiliencePipeline(semaphore = guard)) }
    }

    @Test
    fun guardOfJava_holdsForCoroutinesToo() = runTest {
        val semaphore = AsyncSemaphore.create(1)
        val waits = mutableListOf<java.time.Duration>()
        val guard = AsyncCallGuard { maxWait -> semaphore.acquire(maxWait).also { waits += maxWait } }
        val pipeline = AsyncPipeline.builder(null).semaphore(guard).build().kotlin()
        val end = CompletableDeferred<String>()
        val first = async(start = UNDISPATCHED) { pipeline.call { end.await() } }
        val second = async(start = UNDISPATCHED) { pipeline.call { "second" } }
        assertEquals(1, semaphore.waiting())
        second.cancel()
        assertEquals(0, semaphore.waiting())
        end.complete("first")
        assertEquals("first", first.await())
        assertEquals(1, semaphore.availablePermits())
        val known = checkNotNull(pipeline.semaphore)
        assertEquals("now", known.guarded(-Duration.INFINITE) { "now" })
        assertEquals(java.time.Duration.ZERO, waits.last())
        assertEquals(1, semaphore.availablePermits())
    }

    /** A permit that had arrived, for a coroutine that was cancelled before it went on, was lost. */
    @Test
    fun permitOfACoroutineThatIsCancelledBeforeItGoesOn_isClosed() = runTest {
        val request = CompletableFuture<AutoCloseable>()
        val pipeline = AsyncPipeline.builder(null).semaphore(AsyncCallGuard { request }).build().kotlin()
        val call = launch(start = UNDISPATCHED) { pipeline.call { error("must not begin") } }
        var closed = 0
        request.complete(AutoCloseable { closed++ })
        call.cancelAndJoin()
        assertEquals(1, closed)
    }
}
