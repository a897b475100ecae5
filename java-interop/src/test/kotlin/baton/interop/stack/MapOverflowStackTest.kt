package baton.interop.stack

import baton.hostile.ShallowStack
import baton.interop.Tasks
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import java.util.concurrent.ExecutionException
import java.util.concurrent.Flow
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A map runs out of stack, at every depth: the call throws, or its result completes. */
class MapOverflowStackTest {
    /** One call. Its stages are complete before it, or complete after it. */
    private class Call(areComplete: Boolean) {
        val stages = List(3) { CompletableFuture<Int>().apply { if (areComplete) complete(it) } }
        @Volatile var result: CompletableFuture<*>? = null

        fun stage(element: Int): CompletionStage<Int> = stages[element]

        fun awaitResult() {
            try {
                result?.get(120, TimeUnit.SECONDS)
            } catch (e: ExecutionException) {
                throw e.cause ?: e
            }
        }

        fun check() {
            stages.forEachIndexed { element, stage -> stage.complete(element) }
            runCatching { awaitResult() }.onFailure { if (it !is StackOverflowError) throw it }
        }
    }

    /** Keeps the chunks of a publisher until it has signalled its end. */
    private class Chunks : Flow.Subscriber<List<Int>> {
        val end = CompletableFuture<List<List<Int>>>()
        private val chunks = ArrayList<List<Int>>()

        override fun onSubscribe(subscription: Flow.Subscription) = subscription.request(Long.MAX_VALUE)

        override fun onNext(chunk: List<Int>) {
            chunks += chunk
        }

        override fun onError(why: Throwable) {
            end.completeExceptionally(why)
        }

        override fun onComplete() {
            end.complete(chunks)
        }
    }

    private fun assertEnds(start: (Call) -> CompletableFuture<*>) {
        // Failures and waits need classes of their own, which must not be initialized short of stack.
        runCatching { CompletableFuture<Int>().get(1, TimeUnit.MILLISECONDS) }
        val failing = Call(areComplete = false)
        failing.stages.forEach { it.completeExceptionally(StackOverflowError()) }
        failing.result = start(failing)
        failing.check()

        assertOverflows(areComplete = true) { call ->
            call.result = start(call)
            call.awaitResult()
        }
    }

    private fun assertEndsLater(start: (Call) -> CompletableFuture<*>) {
        assertEnds(start)
        assertOverflows(areComplete = false) { call ->
            val result = start(call)
            call.result = result
            if (result.isDone) call.awaitResult()
        }
    }

    private fun assertOverflows(areComplete: Boolean, operation: (Call) -> Unit) {
        val quiet: (Call) -> Unit = { call ->
            // A subscription reports what its subscriber throws.
            Thread.currentThread().setUncaughtExceptionHandler(SILENT)
            operation(call)
        }
        assertTrue(ShallowStack.sweep({ Call(areComplete) }, quiet, shifts = 4) { it.check() } > 0)
    }

    @Test fun mapLimit_overflow_throwsOrCompletes() = assertEndsLater { Tasks.mapLimit(ELEMENTS, 2, it::stage) }

    @Test fun mapSettled_overflow_throwsOrCompletes() = assertEnds { Tasks.mapSettled(ELEMENTS, 2, 1, it::stage) }

    @Test
    fun mapLimitOfAStream_overflow_throwsOrCompletes() = assertEnds { Tasks.mapLimit(ELEMENTS.stream(), 2, it::stage) }

    @Test
    fun processInChunks_overflow_throwsOrCompletes() = assertEndsLater {
        val chunks = Chunks()
        Tasks.processInChunks(ELEMENTS, 2, 2, it::stage).subscribe(chunks)
        chunks.end
    }

    @Test
    fun blockingMapLimit_overflowInPlace_throwsOrReturns() =
        assertOverflows(areComplete = true) { Tasks.blocking(Runnable::run).mapLimit(ELEMENTS, 2) { it } }

    private companion object {
        val ELEMENTS = listOf(0, 1, 2)
        val SILENT = Thread.UncaughtExceptionHandler { _, _ -> }
    }
}
