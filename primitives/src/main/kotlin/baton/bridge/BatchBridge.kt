@file:JvmName("BatchBridge")

package baton.bridge

import baton.InternalBatonApi
import baton.batch.BatchProcessor
import baton.batch.BatchProgress
import baton.batch.BatchReport
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import java.util.concurrent.Executor
import java.util.function.BiFunction
import java.util.function.Consumer
import java.util.function.Function
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.future.await
import kotlinx.coroutines.future.future

/** Processes [items] by stages. All functions are called on [executor]. Cancelling the future cancels the call. */
@InternalBatonApi
public fun <T, R> process(
    processor: BatchProcessor,
    items: Iterable<T>,
    task: Function<in T, out CompletionStage<R>>,
    onResult: BiFunction<in T, in R, out CompletionStage<*>>,
    maxFailures: Int,
    onProgress: Consumer<in BatchProgress>,
    executor: Executor,
): CompletableFuture<BatchReport<T>> =
    CoroutineScope(executor.asCoroutineDispatcher()).future {
        processor.process(
            items,
            { item, result -> stageOf("onResult", onResult.apply(item, result)).await() },
            maxFailures,
            onProgress::accept,
        ) { item ->
            stageOf("the task", task.apply(item)).await()
        }
    }

private fun <R> stageOf(function: String, stage: CompletionStage<R>?): CompletionStage<R> =
    stage ?: throw NullPointerException("$function returned null, and not a stage")
