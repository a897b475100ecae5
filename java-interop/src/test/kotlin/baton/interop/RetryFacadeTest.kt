package baton.interop

import baton.resilience.RetryContract
import baton.resilience.RetryFace
import baton.resilience.RetryPolicy
import java.util.Optional
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import java.util.function.Supplier
import kotlin.time.Duration
import kotlin.time.toJavaDuration

/** Stages that are complete when the action returns, or that the executor completes. */
private class JavaRetryFace(private val begin: (() -> Any?) -> CompletionStage<Any?>) : RetryFace {
    @Suppress("UNCHECKED_CAST")
    override fun <T> call(
        policy: RetryPolicy,
        retryResult: ((T) -> Boolean)?,
        resultRetryAfter: ((T) -> Duration?)?,
        block: (Int) -> T,
    ): T {
        val retry = AsyncRetry.of(policy)
        var number = 0
        val action = Supplier { begin { block(++number) } as CompletionStage<T> }
        val future =
            if (retryResult == null) retry.call(action)
            else
                retry.call(
                    action,
                    { retryResult(it) },
                    { Optional.ofNullable(resultRetryAfter!!(it)?.toJavaDuration()) },
                )
        return future.valueOrThrow()
    }
}

private object BlockingRetryFace : RetryFace {
    override fun <T> call(
        policy: RetryPolicy,
        retryResult: ((T) -> Boolean)?,
        resultRetryAfter: ((T) -> Duration?)?,
        block: (Int) -> T,
    ): T {
        val retry = AsyncRetry.of(policy).blocking()
        var number = 0
        return if (retryResult == null) retry.call { block(++number) }
        else
            retry.call(
                { block(++number) },
                { retryResult(it) },
                { Optional.ofNullable(resultRetryAfter!!(it)?.toJavaDuration()) },
            )
    }
}

class JavaThrowingRetryTest : RetryContract(JavaRetryFace(::inPlace))

class JavaFailedStageRetryTest : RetryContract(JavaRetryFace(::failedStage))

class JavaAsynchronousRetryTest : RetryContract(JavaRetryFace { CompletableFuture.supplyAsync(it) })

class BlockingRetryContractTest : RetryContract(BlockingRetryFace)
