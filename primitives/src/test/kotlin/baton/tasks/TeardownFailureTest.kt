package baton.tasks

import java.io.IOException
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineExceptionHandler
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Delay
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.plus
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Teardowns that fail, and the callers that get their failures. */
class TeardownFailureTest {
    private fun suppressedOf(thrown: Throwable?) = thrown!!.suppressed.map { it.message }

    @Test
    fun teardown_registeredAfterTheEndThrows_isReportedToTheHandler() = taskTest {
        lateinit var late: CancellableTaskScope
        val handler = CoroutineExceptionHandler { _, e -> note(e) }
        val failing = scope + handler
        failing
            .cancellableTask(teardownTimeout = 5.milliseconds) {
                late = this
                throw IOException()
            }
            .join()
        val failure = IllegalStateException("late")
        late.onTeardown { throw failure }
        test.runCurrent()
        late.onTeardown { delay(6) }
        delay(7)
        assertSame(failure, log[0])
        assertInstanceOf(TeardownTimeoutException::class.java, log[1])
    }

    @Test
    fun teardowns_thatFail_areSuppressedInTheFailure() = taskTest {
        val failure = IOException("disk")
        val task =
            scope.cancellableTask {
                onTeardown { cause -> throw cause }
                onTeardown { error("one") }
                onTeardown { note("ran") }
                onTeardown {
                    delay(1)
                    error("two")
                }
                throw failure
            }
        val thrown = thrownBy { task.await() }
        assertEquals(listOf("two", "one"), suppressedOf(thrown))
        assertEquals("disk", thrown.message)
        assertSame(failure, task.getCompletionExceptionOrNull())
        assertEquals(listOf("two", "one"), suppressedOf(failure))
        assertEquals(listOf<Any?>("ran"), log)
    }

    @Test
    fun teardowns_ofACancelledTaskFail_reasonAndFailureReachAllCallers() = taskTest {
        val reached = mutableListOf<Throwable>()
        val task =
            scope.cancellableTask {
                onTeardown { error("one") }
                onTeardown { reached += it }
                try {
                    awaitCancellation()
                } catch (e: CancellationException) {
                    reached += e
                    throw e
                }
            }
        val next = task.then { 1 }.then { 2 }
        val seen = mutableListOf<Throwable?>()
        task.invokeOnCompletion { seen += it }
        val early = scope.launch { seen += thrownBy { task.await() } }
        test.runCurrent()
        val reason = CancellationException("why", IOException("disk"))
        task.cancel(reason)
        early.join()
        seen += thrownBy { task.await() }
        seen += task.getCompletionExceptionOrNull()
        seen += task.getCancellationException()
        seen += thrownBy { next.await() }
        seen += next.getCompletionExceptionOrNull()
        assertEquals("7 2", "${seen.size} ${reached.size}")
        for (thrown in seen + reached) {
            assertInstanceOf(CancellationException::class.java, thrown)
            assertEquals("why", thrown!!.message)
            // kotlinx throws copies in which the original is the cause.
            assertTrue(generateSequence(thrown) { it.cause }.any { it === reason })
        }
        for (thrown in seen) assertEquals(listOf("one"), suppressedOf(thrown))
        assertTrue(task.isCancelled)
        assertTrue(scope.coroutineContext.job.isActive)
    }

    /** One exception cancels all children of a scope. */
    @Test
    fun teardowns_ofTasksCancelledTogetherFail_eachTaskTellsItsOwn() = taskTest {
        val tasks =
            listOf("one", "two").map { label ->
                scope.cancellableTask {
                    onTeardown { error(label) }
                    awaitCancellation()
                }
            }
        val clean = endless("clean")
        test.runCurrent()
        val reason = CancellationException("all")
        scope.cancel(reason)
        tasks.forEach { it.join() }
        clean.join()
        assertEquals(listOf("one", "two"), tasks.flatMap { suppressedOf(it.getCompletionExceptionOrNull()) })
        assertSame(reason, clean.getCompletionExceptionOrNull())
        assertEquals(0, reason.suppressed.size)
    }

    /** A scope inside the block makes kotlinx throw a copy, of which `await` makes yet another. */
    @Test
    fun teardowns_failAfterARecoveredFailure_awaitSeesIt() = taskTest {
        val task =
            scope.cancellableTask {
                onTeardown { error("one") }
                coroutineScope { launch { throw IOException("disk") } }
            }
        val thrown = thrownBy { task.await() }
        assertEquals("disk", thrown.message)
        assertEquals(listOf("one"), suppressedOf(thrown))
        assertEquals(listOf("one"), suppressedOf(task.getCompletionExceptionOrNull()))
    }

    private class Sealed : Exception("sealed", null, false, false)

    @Test
    fun teardowns_failAndTheFailureTakesNoSuppressed_isReportedToTheHandler() = taskTest {
        val handler = CoroutineExceptionHandler { _, e -> note(e.message) }
        val task =
            (scope + handler).cancellableTask {
                onTeardown { error("one") }
                throw Sealed()
            }
        assertInstanceOf(Sealed::class.java, thrownBy { task.await() })
        assertEquals(listOf<Any?>("one"), log)
    }

    /** A teardown may await a cancelled deferred: that is the teardown's own failure, not the task's end. */
    @Test
    fun teardown_thatThrowsACancellation_isAFailureOfIt() = taskTest {
        val gone = CompletableDeferred<Unit>().apply { cancel("gone") }
        val task =
            scope.cancellableTask {
                onTeardown { gone.await() }
                throw IOException("disk")
            }
        task.join()
        assertEquals(listOf("gone"), suppressedOf(task.getCompletionExceptionOrNull()))
    }

    /** Of a system without a thread for one more timer. */
    @OptIn(InternalCoroutinesApi::class)
    private object NoTimers : CoroutineDispatcher(), Delay {
        override fun dispatch(context: CoroutineContext, block: Runnable) = block.run()

        override fun scheduleResumeAfterDelay(timeMillis: Long, continuation: CancellableContinuation<Unit>) =
            throw OutOfMemoryError("unable to create native thread")
    }

    @Test
    fun teardowns_withoutATimerForTheirTime_runToTheirEnd_andThatIsReported() = taskTest {
        val handler = CoroutineExceptionHandler { _, e -> note(e.message) }
        val task =
            CoroutineScope(NoTimers + handler).cancellableTask(teardownTimeout = 10.milliseconds) {
                onTeardown {
                    yield()
                    note("ran")
                }
                throw IOException("disk")
            }
        task.join()
        assertEquals(emptyList<String>(), suppressedOf(task.getCompletionExceptionOrNull()))
        assertEquals(listOf<Any?>("unable to create native thread", "ran"), log)
    }
}
