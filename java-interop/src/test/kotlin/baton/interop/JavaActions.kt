package baton.interop

import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import java.util.concurrent.ExecutionException

// A block as an action of the Java API, which returns a stage.

/** Complete when the action returns; a block that throws throws from the action. */
internal fun inPlace(block: () -> Any?): CompletionStage<Any?> = CompletableFuture.completedFuture(block())

/** Complete when the action returns, with a failure if the block throws. */
internal fun failedStage(block: () -> Any?): CompletionStage<Any?> =
    try {
        CompletableFuture.completedFuture(block())
    } catch (e: Throwable) {
        CompletableFuture.failedFuture(e)
    }

/** Waits for the value, or throws the failure itself. */
internal fun <T> CompletableFuture<T>.valueOrThrow(): T =
    try {
        get()
    } catch (e: ExecutionException) {
        throw e.cause!!
    }
