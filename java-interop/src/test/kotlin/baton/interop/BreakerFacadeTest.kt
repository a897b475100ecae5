package baton.interop

import baton.resilience.CircuitBreaker
import baton.resilience.breaker.BreakerContract
import baton.resilience.breaker.BreakerFace
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import java.util.concurrent.ExecutionException
import java.util.concurrent.TimeoutException
import java.util.function.Supplier
import kotlin.time.Duration
import kotlin.time.toJavaDuration

/** Stages that are complete when the action returns, or that another thread completes. */
private class JavaBreakerFace(private val begin: (() -> Any?) -> CompletionStage<Any?>) : BreakerFace {
    @Suppress("UNCHECKED_CAST")
    override fun <T> protect(breaker: CircuitBreaker, block: () -> T): T =
        value(AsyncCircuitBreaker.of(breaker).protect(Supplier { begin(block) as CompletionStage<T> }))

    override fun awaitClosed(breaker: CircuitBreaker, timeout: Duration) =
        try {
            value(AsyncCircuitBreaker.of(breaker).awaitClosed(timeout.toJavaDuration()))
            true
        } catch (_: TimeoutException) {
            false
        }

    private fun <T> value(future: CompletableFuture<T>): T =
        try {
            future.get()
        } catch (e: ExecutionException) {
            throw e.cause!!
        }
}

private fun inPlace(block: () -> Any?): CompletionStage<Any?> = CompletableFuture.completedFuture(block())

private fun failed(block: () -> Any?): CompletionStage<Any?> =
    try {
        CompletableFuture.completedFuture(block())
    } catch (e: Throwable) {
        CompletableFuture.failedFuture(e)
    }

private object BlockingBreakerFace : BreakerFace {
    override fun <T> protect(breaker: CircuitBreaker, block: () -> T): T =
        AsyncCircuitBreaker.of(breaker).blocking().call { block() }

    override fun awaitClosed(breaker: CircuitBreaker, timeout: Duration) =
        AsyncCircuitBreaker.of(breaker).blocking().awaitClosed(timeout.toJavaDuration())
}

class JavaThrowingBreakerTest : BreakerContract(JavaBreakerFace(::inPlace))

class JavaFailedStageBreakerTest : BreakerContract(JavaBreakerFace(::failed))

class JavaAsynchronousBreakerTest : BreakerContract(JavaBreakerFace { CompletableFuture.supplyAsync(it) })

class BlockingBreakerContractTest : BreakerContract(BlockingBreakerFace)
