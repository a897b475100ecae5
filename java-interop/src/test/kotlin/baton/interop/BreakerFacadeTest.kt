package baton.interop

import baton.resilience.CircuitBreaker
import baton.resilience.breaker.BreakerContract
import baton.resilience.breaker.BreakerFace
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import java.util.concurrent.TimeoutException
import java.util.function.Supplier
import kotlin.time.Duration
import kotlin.time.toJavaDuration

/** Stages that are complete when the action returns, or that another thread completes. */
private class JavaBreakerFace(private val begin: (() -> Any?) -> CompletionStage<Any?>) : BreakerFace {
    @Suppress("UNCHECKED_CAST")
    override fun <T> protect(breaker: CircuitBreaker, block: () -> T): T =
        AsyncCircuitBreaker.of(breaker).protect(Supplier { begin(block) as CompletionStage<T> }).valueOrThrow()

    override fun awaitClosed(breaker: CircuitBreaker, timeout: Duration) =
        try {
            AsyncCircuitBreaker.of(breaker).awaitClosed(timeout.toJavaDuration()).valueOrThrow()
            true
        } catch (_: TimeoutException) {
            false
        }
}

private object BlockingBreakerFace : BreakerFace {
    override fun <T> protect(breaker: CircuitBreaker, block: () -> T): T =
        AsyncCircuitBreaker.of(breaker).blocking().call { block() }

    override fun awaitClosed(breaker: CircuitBreaker, timeout: Duration) =
        AsyncCircuitBreaker.of(breaker).blocking().awaitClosed(timeout.toJavaDuration())
}

class JavaThrowingBreakerTest : BreakerContract(JavaBreakerFace(::inPlace))

class JavaFailedStageBreakerTest : BreakerContract(JavaBreakerFace(::failedStage))

class JavaAsynchronousBreakerTest : BreakerContract(JavaBreakerFace { CompletableFuture.supplyAsync(it) })

class BlockingBreakerContractTest : BreakerContract(BlockingBreakerFace)
