package baton.tasks

import baton.NOW_OR_NEVER
import java.io.IOException
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.job
import kotlinx.coroutines.newSingleThreadContext
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class TeardownTest {
    @Test
    fun teardowns_ofACancelledTask_runLastRegisteredFirstOneAfterAnother() = taskTest {
        val task =
            scope.cancellableTask {
                for (i in 1..3) {
                    onTeardown {
                        note("$i begins")
                        delay(10)
                        note("$i ends")
                    }
                }
                awaitCancellation()
            }
        test.runCurrent()
        task.cancelAndJoin()
        val expected = listOf<Any?>("3 begins", "3 ends", "2 begins", "2 ends", "1 begins", "1 ends")
        assertEquals(expected, log)
        assertEquals(30L, test.currentTime)
    }

    @Test
    fun teardowns_ofATaskWithAValue_neverRun() = taskTest {
        lateinit var late: CancellableTaskScope
        val task =
            scope.cancellableTask {
                late = this
                onTeardown { note("early") }
                42
            }
        assertEquals(42, task.await())
        task.cancel()
        late.onTeardown { note("late") }.dispose()
        test.runCurrent()
        assertEquals(emptyList<Any?>(), log)
    }

    @Test
    fun teardown_registeredAfterTheCancel_runsOnce() = taskTest {
        val task =
            scope.cancellableTask {
                onTeardown { note("early") }
                try {
                    awaitCancellation()
                } finally {
                    onTeardown { note("late") }
                    withContext(NonCancellable) { delay(10) }
                    note("block ends")
                }
            }
        test.runCurrent()
        task.cancelAndJoin()
        assertEquals(listOf<Any?>("block ends", "late", "early"), log)
    }

    @Test
    fun teardown_registeredByATeardown_isTheNext() = taskTest {
        val task =
            scope.cancellableTask {
                onTeardown { note("first") }
                onTeardown {
                    onTeardown { note("inner") }
                    delay(10)
                    note("second")
                }
                awaitCancellation()
            }
        test.runCurrent()
        task.cancelAndJoin()
        assertEquals(listOf<Any?>("second", "inner", "first"), log)
    }

    @Test
    fun teardown_registeredAfterTheEnd_runsAtOnceAndTheScopeWaits() = taskTest {
        lateinit var late: CancellableTaskScope
        val reason = CancellationException("over")
        val task =
            scope.cancellableTask {
                late = this
                awaitCancellation()
            }
        test.runCurrent()
        task.cancel(reason)
        task.join()
        late.onTeardown {
            delay(10)
            note(it)
        }
        scope.coroutineContext.job.cancelAndJoin()
        assertEquals(listOf<Any?>(reason), log)
        late.onTeardown { note("when the scope has ended") }
        test.runCurrent()
        assertEquals("when the scope has ended", log.last())
        assertEquals(10L, test.currentTime)
    }

    @Test
    fun registration_disposed_doesNotRun() = taskTest {
        val task =
            scope.cancellableTask {
                val handles = (1..5).map { i -> onTeardown { note(i) } }
                for (i in listOf(3, 1, 5, 3)) handles[i - 1].dispose()
                lateinit var older: DisposableHandle
                lateinit var itself: DisposableHandle
                older = onTeardown { note("older") }
                itself = onTeardown {
                    itself.dispose()
                    older.dispose()
                    note("itself")
                }
                awaitCancellation()
            }
        test.runCurrent()
        task.cancelAndJoin()
        assertEquals(listOf<Any?>("itself", 4, 2), log)
    }

    @Test
    fun teardown_thatOverruns_isCutAndTheFollowingRunAsFarAsTheyNeedNotSuspend() = taskTest {
        val task =
            scope.cancellableTask(teardownTimeout = 10.milliseconds, name = "save") {
                onTeardown { note("last") }
                onTeardown {
                    note("begins at ${test.currentTime}")
                    delay(1)
                    note("not reached")
                }
                onTeardown {
                    try {
                        delay(100)
                    } finally {
                        note("cut at ${test.currentTime}")
                    }
                }
                onTeardown { delay(6) }
                awaitCancellation()
            }
        test.runCurrent()
        task.cancelAndJoin()
        assertEquals(listOf<Any?>("cut at 10", "begins at 10", "last"), log)
        val suppressed = task.getCompletionExceptionOrNull()!!.suppressed.toList()
        assertEquals(2, suppressed.size)
        for (timeout in suppressed) {
            assertInstanceOf(TeardownTimeoutException::class.java, timeout)
            assertEquals("the teardowns of CancellableTask 'save' took longer than 10ms", timeout.message)
        }
    }

    @Test
    fun teardowns_withinTheirTime_areNotCut() = taskTest {
        val task =
            scope.cancellableTask(teardownTimeout = 10.milliseconds) {
                onTeardown {
                    delay(9)
                    note("in time")
                }
                throw IOException()
            }
        task.join()
        assertEquals(0, task.getCompletionExceptionOrNull()!!.suppressed.size)
        assertEquals(listOf<Any?>("in time"), log)
        delay(100)
        assertEquals(109L, test.currentTime)
    }

    @Test
    fun timeoutZeroOrNegative_teardownsRunWithoutSuspending() = taskTest {
        for (timeout in NOW_OR_NEVER) {
            val task =
                scope.cancellableTask(teardownTimeout = timeout) {
                    onTeardown { note(timeout) }
                    onTeardown {
                        delay(1)
                        note("not reached")
                    }
                    throw IOException()
                }
            task.join()
            val failure = task.getCompletionExceptionOrNull()!!.suppressed.single()
            assertInstanceOf(TeardownTimeoutException::class.java, failure)
            assertEquals("the teardowns of CancellableTask took longer than 0s", failure.message)
        }
        assertEquals(NOW_OR_NEVER, log)
        assertEquals(0L, test.currentTime)
    }

    @Test
    fun teardown_isShieldedFromCancellation() = taskTest {
        val task =
            scope.cancellableTask {
                onTeardown {
                    delay(10)
                    note("done")
                }
                awaitCancellation()
            }
        test.runCurrent()
        task.cancel()
        test.runCurrent()
        task.cancel("again")
        scope.cancel("the scope, too")
        task.join()
        assertEquals(listOf<Any?>("done"), log)
        assertNotSame("again", task.getCompletionExceptionOrNull()!!.message)
    }

    /** The scope that ends is the one that the teardown needs. */
    @Test
    fun scope_cancelledAndEnded_waitsForTeardowns() = taskTest {
        val own = CoroutineScope(scope.coroutineContext + SupervisorJob())
        own.cancellableTask {
            onTeardown {
                delay(10)
                note("done")
            }
            awaitCancellation()
        }
        test.runCurrent()
        own.cancel()
        assertFalse(own.coroutineContext.job.isCompleted)
        own.coroutineContext.job.join()
        assertEquals(listOf<Any?>("done"), log)
    }

    @Test
    fun teardown_whenTheDispatcherRefuses_runsElsewhere() {
        val dispatcher = newSingleThreadContext("closing")
        val begun = CompletableDeferred<Unit>()
        val ran = CompletableDeferred<Unit>()
        val task =
            CoroutineScope(dispatcher).cancellableTask {
                onTeardown { ran.complete(Unit) }
                begun.complete(Unit)
                awaitCancellation()
            }
        runBlocking {
            begun.await()
            dispatcher.close()
            task.cancelAndJoin()
        }
        assertTrue(ran.isCompleted)
    }
}
