package baton.interop

import baton.parallel.MapContract
import baton.parallel.Outcome
import baton.parallel.contract.MapCall
import baton.parallel.contract.MapFace
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import kotlin.streams.asStream
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.future.future
import kotlinx.coroutines.withContext

/**
 * Stages that are coroutines of the test. They are no children of the caller: the future alone cancels them when the
 * caller is cancelled.
 */
private open class JavaMapFace : MapFace {
    override val settlesRest
        get() = true

    private suspend fun <T, R, V> await(
        transform: suspend (T) -> R,
        call: ((T) -> CompletionStage<R>) -> CompletableFuture<V>,
    ): V {
        currentCoroutineContext().ensureActive()
        val stages = SupervisorJob()
        val scope = CoroutineScope(currentCoroutineContext() + stages)
        val future = call { scope.future { transform(it) } }
        val done = CompletableDeferred<Unit>()
        future.whenComplete { _, _ -> done.complete(Unit) }
        try {
            done.await()
        } catch (e: CancellationException) {
            future.cancel(true)
            withContext(NonCancellable) { for (stage in stages.children) stage.join() }
            throw e
        }
        // As it is: coroutines would copy it on its way.
        val failure = future.handle { _, e -> e }.join()
        if (failure != null) throw failure
        return future.join()
    }

    override suspend fun <T, R> mapLimit(call: MapCall<T>, transform: suspend (T) -> R): List<R> =
        await(transform) { mapLimit(call.elements, call.limit, it) }

    open fun <T, R> mapLimit(elements: Sequence<T>, limit: Int, function: (T) -> CompletionStage<R>) =
        Tasks.mapLimit(elements.asIterable(), limit, function)

    override suspend fun <T, R> mapSettled(call: MapCall<T>, transform: suspend (T) -> R): List<Outcome<R>> =
        await(transform) { Tasks.mapSettled(call.elements.asIterable(), call.limit, call.maxFailures, it) }

    override suspend fun <T> forEachLimit(call: MapCall<T>, action: suspend (T) -> Unit) {
        await(action) { Tasks.forEachLimit(call.elements.asIterable(), call.limit, it) }
    }
}

private object JavaStreamFace : JavaMapFace() {
    override fun <T, R> mapLimit(elements: Sequence<T>, limit: Int, function: (T) -> CompletionStage<R>) =
        Tasks.mapLimit(elements.asStream(), limit, function)
}

class JavaMapTest : MapContract(JavaMapFace())

class JavaStreamMapTest : MapContract(JavaStreamFace)
