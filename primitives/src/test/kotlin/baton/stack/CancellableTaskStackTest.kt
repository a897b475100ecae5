package baton.stack

import baton.tasks.CancellableTask
import baton.tasks.cancellableTask
import java.io.IOException
import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** Chains of tasks, each upon the other. Runs with a small stack. */
class CancellableTaskStackTest {
    enum class World(val context: CoroutineContext) {
        DEFAULT(Dispatchers.Default),
        ONE_THREAD(Dispatchers.Default.limitedParallelism(1)),
        UNCONFINED(Dispatchers.Unconfined),
    }

    private val ends = SupervisorJob()
    private val tornDown = AtomicInteger()

    @AfterEach fun end() = ends.cancel()

    private fun World.scope() = CoroutineScope(context + ends)

    private fun <T> CancellableTask<T>.chain(length: Int = MANY, next: (T) -> T): CancellableTask<T> {
        var last = this
        repeat(length) { last = last.then { value -> next(value) } }
        return last
    }

    /** The source, cancelled when it has just begun, may not have got as far as to register. */
    @ParameterizedTest
    @EnumSource
    fun chain_completesOrEndsWithoutAValue(world: World) {
        val disk = IOException("disk")
        val cases =
            listOf<Pair<String?, (CompletableDeferred<Int>, Job, Job) -> Any>>(
                null to { gate, _, _ -> gate.complete(0) },
                "disk" to { gate, _, _ -> gate.completeExceptionally(disk) },
                "at its end" to { _, source, last -> last.cancel("at its end").also { check(source.isCancelled) } },
                "at its source" to { _, source, _ -> source.cancel("at its source") },
            )
        for ((message, end) in cases) {
            val gate = CompletableDeferred<Int>()
            val source = world.scope().cancellableTask { gate.await() }
            val last = source.chain { it + 1 }
            end(gate, source, last)
            runBlocking { last.join() }
            if (message == null) assertEquals(MANY, last.getCompleted())
            for (task in listOf(source, last)) assertEquals(message, task.getCompletionExceptionOrNull()?.message)
        }
    }

    private fun CoroutineScope.composed(depth: Int, innermost: CancellableTask<Int>): CancellableTask<Int> =
        if (depth == 0) {
            innermost
        } else {
            cancellableTask { depth }.thenCompose { this@composed.composed(depth - 1, innermost) }
        }

    /** Each task waits for the task that its block has returned. */
    @ParameterizedTest
    @EnumSource
    fun composed_completesAndIsCancelled(world: World) {
        val scope = world.scope()
        val gate = CompletableDeferred<Int>()
        fun innermost(begun: CompletableDeferred<Unit>) =
            scope.cancellableTask {
                begun.complete(Unit)
                gate.await()
            }
        val begun = List(2) { CompletableDeferred<Unit>() }
        val cancelled = scope.composed(MANY, innermost(begun[0]))
        val completed = scope.composed(MANY, innermost(begun[1]))
        runBlocking {
            begun.forEach { it.await() }
            cancelled.cancel("enough")
            cancelled.join()
            gate.complete(42)
            assertEquals(42, completed.await())
        }
        assertEquals("enough", cancelled.getCompletionExceptionOrNull()!!.message)
    }

    @ParameterizedTest
    @EnumSource
    fun teardowns_registeredByTeardowns(world: World) {
        val task =
            world.scope().cancellableTask {
                fun next(): Unit = onTeardown { if (tornDown.incrementAndGet() < MANY) next() }.let {}
                next()
                throw IOException("disk")
            }
        runBlocking { task.join() }
        assertEquals(MANY, tornDown.get())
    }

    /** A long chain; `-Dchain=` sets its length. One cancellation and one value, because exceptions take their time. */
    @Test
    fun longChain_cancelledAtItsEndAndCompleted() {
        val gate = CompletableDeferred<Int>()
        val source = World.UNCONFINED.scope().cancellableTask { gate.await() }
        val last = source.chain(LONG) { it + 1 }
        val branch = World.UNCONFINED.scope().cancellableTask(start = CoroutineStart.LAZY) { awaitCancellation() }
        branch.chain(LONG) { it }.cancel("enough")
        assertEquals("enough", branch.getCompletionExceptionOrNull()!!.message)
        gate.complete(0)
        assertEquals(LONG, last.getCompleted())
    }

    private companion object {
        private const val MANY = 5_000
        private val LONG = Integer.getInteger("chain", 20_000)
    }
}
