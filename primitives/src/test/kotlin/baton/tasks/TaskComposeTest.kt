package baton.tasks

import java.io.IOException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Job
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class TaskComposeTest {
    @Test
    fun thenCompose_endsAsTheInnerTask() = taskTest {
        val task = scope.cancellableTask { 6 }
        assertEquals(
            42,
            task
                .thenCompose { value ->
                    scope.cancellableTask {
                        delay(5)
                        value * 7
                    }
                }
                .await(),
        )
        val failure = IOException("disk")
        val failing = task.thenCompose { scope.cancellableTask { throw failure } }
        failing.join()
        assertSame(failure, failing.getCompletionExceptionOrNull())
        val inner = endless("inner")
        val cancelled = task.thenCompose { inner }
        test.runCurrent()
        inner.cancel("inner went away")
        assertEquals("inner went away", thrownBy { cancelled.await() }.message)
        assertTrue(scope.coroutineContext.job.isActive)
    }

    @Test
    fun thenCompose_cancelled_cancelsTheInnerTaskAndWaitsForIt() = taskTest {
        val task = scope.cancellableTask { 1 }
        val inner = CompletableDeferred<Job>()
        val outer =
            task.thenCompose {
                onTeardown { note("outer") }
                scope
                    .cancellableTask {
                        onTeardown {
                            delay(10)
                            note("inner")
                        }
                        awaitCancellation()
                    }
                    .also { inner.complete(it) }
            }
        test.runCurrent()
        outer.then {}.cancel("enough")
        assertTrue(inner.await().isCancelled)
        outer.join()
        assertEquals(listOf<Any?>("inner", "outer"), log)
        assertEquals("enough", outer.getCompletionExceptionOrNull()!!.message)
    }

    @Test
    fun thenCompose_cancelledBeforeTheBlockAnswers_cancelsTheInnerTask() =
        taskTest(inPlace = false) {
            val inner = endless("inner")
            val outer =
                scope
                    .cancellableTask { 1 }
                    .thenCompose {
                        coroutineContext.job.cancel("from inside")
                        inner
                    }
            outer.join()
            assertEquals("from inside", inner.getCompletionExceptionOrNull()!!.message)
            val other = endless("other")
            lateinit var self: Job
            self =
                scope
                    .cancellableTask { 1 }
                    .thenCompose {
                        self.cancel("from outside")
                        other
                    }
            self.join()
            assertEquals("from outside", other.getCompletionExceptionOrNull()!!.message)
        }

    @Test
    fun thenCompose_innerHasOtherConsumers_isLeftAlone() = taskTest {
        val inner =
            scope.cancellableTask {
                delay(10)
                1
            }
        val other = inner.then { it }
        val outer = scope.cancellableTask { 1 }.thenCompose { inner }
        test.runCurrent()
        outer.cancelAndJoin()
        assertEquals(0L, test.currentTime)
        assertEquals(1, other.await())
    }

    @Test
    fun thenCompose_childOfItsBlockFails_cancelsTheInnerTask() = taskTest {
        val failure = IOException("disk")
        val inner = endless("inner")
        val outer =
            scope
                .cancellableTask { 1 }
                .thenCompose {
                    launch {
                        delay(5)
                        throw failure
                    }
                    inner
                }
        outer.join()
        assertSame(failure, outer.getCompletionExceptionOrNull())
        assertSame(failure, inner.getCompletionExceptionOrNull()!!.cause)
    }
}
