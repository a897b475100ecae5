package baton.tasks

import baton.runBlockingOfAnyKotlinx
import java.io.IOException
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineExceptionHandler
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.select
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Our implementation of kotlinx's Deferred. */
class TaskKotlinxProbe {
    private val log = mutableListOf<Any?>()
    private val handler = CoroutineExceptionHandler { _, e -> log += e.message }
    private val scope = CoroutineScope(Dispatchers.Unconfined + SupervisorJob() + handler)

    @Test
    fun task_withAValue_isADeferred() = runBlockingOfAnyKotlinx {
        val task =
            scope.cancellableTask(start = CoroutineStart.LAZY) {
                onTeardown { log += "teardown" }
                42
            }
        assertFalse(task.isActive)
        assertEquals(43, task.then { it + 1 }.await())
        assertEquals(42, select { task.onAwait { it } })
        assertEquals(42, task.getCompleted())
        task.invokeOnCompletion { log += it }
        task.invokeOnCompletion(onCancelling = true, invokeImmediately = true) { log += it }
        assertEquals(listOf<Any?>(null, null), log)
        assertTrue(task.children.none())
    }

    @Test
    fun chain_cancelled_tearsDownItsSource() = runBlockingOfAnyKotlinx {
        val task =
            scope.cancellableTask {
                onTeardown { log += it.message }
                awaitCancellation()
            }
        val last = task.then {}.thenCompose { task }
        last.cancel(CancellationException("why"))
        task.join()
        assertTrue(last.isCompleted)
        assertEquals(listOf<Any?>("why"), log)
        assertEquals("why", task.getCancellationException().message)
    }

    @Test
    fun teardown_fails_isSuppressedOrReported() {
        lateinit var late: CancellableTaskScope
        val task =
            scope.cancellableTask {
                late = this
                onTeardown { error("one") }
                throw IOException("disk")
            }
        assertThrows(IOException::class.java) { runBlockingOfAnyKotlinx { task.await() } }
        assertEquals("one", task.getCompletionExceptionOrNull()!!.suppressed.single().message)
        late.onTeardown { error("late") }
        assertEquals(listOf<Any?>("late"), log)
    }

    @Test
    fun task_asAParent_waitsForItsChild() {
        val gate = Job()
        val task = scope.cancellableTask { gate.join() }
        val child = CoroutineScope(Dispatchers.Unconfined + task).launch { awaitCancellation() }
        gate.complete()
        assertFalse(task.isCompleted)
        child.cancel(null)
        assertTrue(task.isCompleted)
    }
}
