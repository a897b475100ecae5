package baton.tasks

import baton.NOW_OR_NEVER
import java.io.IOException
import java.util.concurrent.CountDownLatch
import kotlin.concurrent.thread
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A task as a Deferred and as a child of its scope. */
class CancellableTaskTest {
    private fun Job.state() = "$isActive $isCancelled $isCompleted"

    @Test
    fun task_endsWithAValue_asADeferred() = taskTest {
        val task =
            scope.cancellableTask {
                delay(5)
                42
            }
        assertEquals("true false false", task.state())
        assertEquals("CancellableTask (active)", task.toString())
        assertThrows(IllegalStateException::class.java) { task.getCompleted() }
        assertEquals(42, task.await())
        assertEquals(42, task.getCompleted())
        assertNull(task.getCompletionExceptionOrNull())
        assertEquals(42, select { task.onAwait { it } })
        assertEquals("done", select { task.onJoin { "done" } })
        assertEquals("false false true", task.state())
        assertEquals("CancellableTask (completed)", task.toString())
        assertEquals(5L, test.currentTime)
    }

    @Test
    fun task_ofNull_isAValue() = taskTest {
        val task: CancellableTask<String?> =
            scope.cancellableTask {
                onTeardown { note("teardown") }
                null
            }
        assertNull(task.then { it?.length }.await())
        assertEquals(emptyList<Any?>(), log)
    }

    @Test
    fun task_fails_cancelsItsParentAsAsyncDoes() = taskTest {
        val failure = IOException("disk")
        val thrown = thrownBy {
            coroutineScope {
                cancellableTask { throw failure }
                awaitCancellation()
            }
        }
        assertEquals("disk", thrown.message)
        val alone = scope.cancellableTask(name = "save") { throw failure }
        assertInstanceOf(IOException::class.java, thrownBy { alone.await() })
        assertSame(failure, alone.getCompletionExceptionOrNull())
        assertEquals("CancellableTask 'save' (failed)", alone.toString())
    }

    @Test
    fun task_cancelled_isCompletedWhenItsTeardownsHaveEnded() = taskTest {
        val task =
            scope.cancellableTask {
                onTeardown {
                    delay(10)
                    note("torn down")
                }
                awaitCancellation()
            }
        val seen = mutableListOf<String>()
        task.invokeOnCompletion { seen += "completed at ${test.currentTime}" }
        test.runCurrent()
        task.cancel()
        assertEquals("false true false", task.state())
        test.runCurrent()
        assertEquals("CancellableTask (ending without a value)", task.toString())
        assertEquals(0, seen.size)
        task.join()
        assertEquals("false true true", task.state())
        assertEquals("CancellableTask (cancelled)", task.toString())
        assertEquals(listOf("torn down", "completed at 10"), log + seen)
    }

    @Test
    fun children_ofATask_areTornDownBeforeIt() = taskTest {
        val task =
            scope.cancellableTask {
                onTeardown { note("parent") }
                cancellableTask {
                    onTeardown {
                        delay(10)
                        note("child")
                    }
                    cancellableTask {
                        onTeardown {
                            delay(10)
                            note("grandchild")
                        }
                        awaitCancellation()
                    }
                }
                launch {
                    try {
                        awaitCancellation()
                    } finally {
                        withContext(NonCancellable) { delay(30) }
                        note("launched")
                    }
                }
            }
        test.runCurrent()
        task.cancelAndJoin()
        assertEquals(listOf<Any?>("grandchild", "child", "launched", "parent"), log)
    }

    @Test
    fun child_fails_failsTheTaskAndTearsItDown() = taskTest {
        val failure = IOException("disk")
        val task =
            scope.cancellableTask {
                onTeardown { note(it) }
                launch { throw failure }
                awaitCancellation()
            }
        assertInstanceOf(IOException::class.java, thrownBy { task.await() })
        assertSame(failure, task.getCompletionExceptionOrNull())
        assertEquals(listOf<Any?>(failure), log)
    }

    /** As with any job: a coroutine that names it as the parent is its child. */
    @Test
    fun task_asAParent_waitsForTheChildAndFailsWithIt() = taskTest {
        val task =
            scope.cancellableTask {
                onTeardown { note("teardown") }
                awaitCancellation()
            }
        test.runCurrent()
        val failure = IOException("child")
        CoroutineScope(scope.coroutineContext + task).launch {
            delay(10)
            throw failure
        }
        task.join()
        assertEquals(10L, test.currentTime)
        assertSame(failure, task.getCompletionExceptionOrNull())
        assertEquals(listOf<Any?>("teardown"), log)
    }

    @Test
    fun children_areThoseOfTheBlock() = taskTest {
        val task =
            scope.cancellableTask {
                launch { awaitCancellation() }
                42
            }
        test.runCurrent()
        assertEquals(1, task.children.count())
        task.children.forEach { it.cancel() }
        assertEquals(42, task.await())
    }

    @Test
    fun cancel_beforeItBegins_neverRunsTheBlock() =
        taskTest(inPlace = false) {
            val task = scope.cancellableTask { note("block") }
            task.cancel("no need")
            assertEquals("no need", thrownBy { task.await() }.message)
            assertEquals(emptyList<Any?>(), log)
        }

    @Test
    fun lazy_beginsWhenAskedFor() = taskTest {
        fun lazyTask() = scope.cancellableTask(start = CoroutineStart.LAZY) { 42 }
        val task = lazyTask()
        test.runCurrent()
        assertEquals("false false false", task.state())
        assertEquals("CancellableTask (not started)", task.toString())
        assertTrue(task.start())
        assertFalse(task.start())
        assertEquals(42, task.await())
        assertEquals(42, lazyTask().await())
        assertEquals(42, lazyTask().apply { join() }.getCompleted())
        assertEquals(42, select { lazyTask().onAwait { it } })
        assertEquals(0, select { lazyTask().onJoin { 0 } })
        assertEquals(43, lazyTask().then { it + 1 }.await())
    }

    @Test
    fun lazy_cancelledBeforeItBegins_isCancelled() = taskTest {
        val task = scope.cancellableTask(start = CoroutineStart.LAZY) { note("block") }
        task.cancel()
        assertEquals("false true true", task.state())
        task.join()
        assertEquals(emptyList<Any?>(), log)
    }

    @Test
    fun undispatched_beginsOnTheSpotAndEndsInTheDispatcher() =
        taskTest(inPlace = false) {
            val task =
                scope.cancellableTask(start = CoroutineStart.UNDISPATCHED) {
                    onTeardown { note("teardown") }
                    note("begun")
                    yield()
                }
            note("called")
            task.cancelAndJoin()
            assertEquals(listOf<Any?>("begun", "called", "teardown"), log)
            assertEquals(1, scope.cancellableTask(start = CoroutineStart.UNDISPATCHED) { 1 }.getCompleted())
        }

    @Test
    fun atomic_cancelledBeforeItBegins_runsToItsFirstSuspension() =
        taskTest(inPlace = false) {
            val task =
                scope.cancellableTask(start = CoroutineStart.ATOMIC) {
                    onTeardown { note("teardown") }
                    note("begun")
                    yield()
                    note("not reached")
                }
            task.cancelAndJoin()
            assertEquals(listOf<Any?>("begun", "teardown"), log)
        }

    @Test
    fun context_isAddedToThatOfTheScope() = taskTest {
        val key = kotlinx.coroutines.CoroutineName("mine")
        val task = scope.cancellableTask(key) { coroutineContext[kotlinx.coroutines.CoroutineName] }
        assertSame(key, task.await())
        assertSame(key, task.then(key) { coroutineContext[kotlinx.coroutines.CoroutineName] }.await())
    }

    /** The value is decided when the block and its children have ended; the dispatcher is still to be asked. */
    @Test
    fun cancel_afterTheBlockHasEnded_isTooLate() = taskTest {
        val gate = CompletableDeferred<Unit>()
        val task =
            scope.cancellableTask {
                onTeardown { note("teardown") }
                gate.await()
                note("ended")
                42
            }
        test.runCurrent()
        gate.complete(Unit)
        while (log.isEmpty()) {
            yield()
        }
        task.cancel()
        assertFalse(task.isCancelled)
        assertEquals(42, task.await())
        assertEquals(listOf<Any?>("ended"), log)
    }

    @Test
    fun cancel_whileOnlyChildrenRun_isInTime() = taskTest {
        val task =
            scope.cancellableTask {
                onTeardown { note("teardown") }
                launch { awaitCancellation() }
                42
            }
        test.runCurrent()
        task.cancel()
        assertInstanceOf(CancellationException::class.java, thrownBy { task.await() })
        assertEquals(listOf<Any?>("teardown"), log)
    }

    @Test
    fun cancel_again_keepsTheFirstReason() = taskTest {
        val task = endless("task")
        test.runCurrent()
        task.cancel("first")
        task.cancel("second")
        assertEquals("first", thrownBy { task.await() }.message)
        assertEquals("first", task.getCancellationException().message)
    }

    /** The block throws the exception by itself, without a cancellation of the task. */
    @Test
    fun block_throwsACancellation_cancelsOnlyItsTask() = taskTest {
        val reason = CancellationException("gave up")
        val task =
            scope.cancellableTask {
                onTeardown { note(it) }
                throw reason
            }
        task.join()
        assertTrue(task.isCancelled)
        assertSame(reason, task.getCompletionExceptionOrNull())
        assertSame(reason, log.single())
        assertTrue(scope.coroutineContext.job.isActive)
    }

    @Test
    fun await_cancelledItself_leavesTheTaskAlone() = taskTest {
        val task =
            scope.cancellableTask {
                delay(10)
                42
            }
        val awaiter = scope.launch { task.await() }
        test.runCurrent()
        awaiter.cancelAndJoin()
        assertEquals(42, task.await())
    }

    @Test
    fun timeout_ofEverySize_isAccepted() = taskTest {
        val task = endless("task")
        test.runCurrent()
        for (timeout in NOW_OR_NEVER + listOf(1.nanoseconds, 1.milliseconds, Duration.INFINITE)) {
            task.then(teardownTimeout = timeout) {}.cancel()
            task.thenCompose(teardownTimeout = timeout) { task }.cancel()
            task.join()
        }
        assertEquals(listOf<Any?>("task"), log)
    }

    /** The first canceller runs a handler, and gets to the work after it. */
    @Test
    fun cancel_whileAnotherCancellerRunsAHandler_isSeenWhenItReturns() {
        val task =
            CoroutineScope(Dispatchers.Unconfined).cancellableTask(start = CoroutineStart.LAZY) { awaitCancellation() }
        val entered = CountDownLatch(1)
        val mayLeave = CountDownLatch(1)
        task.invokeOnCompletion(onCancelling = true) {
            entered.countDown()
            mayLeave.await()
        }
        task.start()
        val first = thread { task.cancel("over") }
        entered.await()
        task.cancel("late")
        assertEquals("false true", "${task.isActive} ${task.isCancelled}")
        mayLeave.countDown()
        first.join()
        assertEquals("over", task.getCompletionExceptionOrNull()?.message)
    }
}
