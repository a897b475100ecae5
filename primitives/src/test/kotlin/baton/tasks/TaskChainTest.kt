package baton.tasks

import baton.hostile.HostileDispatcher
import baton.hostile.Hostility
import baton.memory.assertCollected
import java.io.IOException
import java.lang.ref.WeakReference
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.GlobalScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.job
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class TaskChainTest {
    @Test
    fun then_getsTheValueAndMaySuspend() = taskTest {
        val task =
            scope.cancellableTask {
                delay(1)
                6
            }
        val next =
            task.then { value ->
                delay(1)
                value * 7
            }
        assertEquals("42", next.then { it.toString() }.await())
        assertEquals(2L, test.currentTime)
    }

    @Test
    fun cancel_theLastOfAChain_reachesTheSourceAtOnce() = taskTest {
        val task = endless("source")
        val middle = task.then { 1 }
        val last = middle.then { 2 }
        test.runCurrent()
        val reason = CancellationException("enough")
        last.cancel(reason)
        assertTrue(middle.isCancelled && task.isCancelled)
        last.join()
        assertEquals(listOf<Any?>("source"), log)
        for (each in listOf(task, middle, last)) assertSame(reason, each.getCompletionExceptionOrNull())
        val notBegun = endless("not begun")
        notBegun.then { 1 }.then { 2 }.cancel()
        assertTrue(notBegun.isCancelled)
    }

    @Test
    fun then_underAJobThatIsCancelledAlready_leavesTheSourceOnce() = taskTest {
        val gone = Job().apply { cancel() }
        val task = endless("source")
        val other = task.then { 1 }
        test.runCurrent()
        task.then(Dispatchers.Unconfined + gone) { 2 }
        assertTrue(task.isActive && other.isActive)
        other.cancel()
        assertTrue(task.isCancelled)
        val alone = endless("alone")
        test.runCurrent()
        alone.then(Dispatchers.Unconfined + gone) { 3 }
        assertTrue(alone.isCancelled)
    }

    private fun TaskWorld.tornDownSlowly() =
        scope.cancellableTask {
            onTeardown {
                delay(10)
                note("torn down")
            }
            awaitCancellation()
        }

    @Test
    fun cancel_ofAChain_waitsForTheTeardownsOfItsSources() = taskTest {
        val task = tornDownSlowly()
        val last = task.then { 1 }.then { 2 }
        test.runCurrent()
        last.cancelAndJoin()
        assertEquals(listOf<Any?>("torn down"), log)
        assertEquals(10L, test.currentTime)
    }

    @Test
    fun cancel_sourceGetsAnotherConsumer_waitsForTheTeardownOfTheSource() = taskTest {
        val source = tornDownSlowly()
        val cancelled = source.then { 1 }
        test.runCurrent()
        cancelled.cancel()
        source.then { 2 }
        cancelled.join()
        assertEquals(listOf<Any?>("torn down"), log)
    }

    @Test
    fun cancel_oneOfSeveralConsumers_leavesTheSource() = taskTest {
        val task =
            scope.cancellableTask {
                delay(10)
                1
            }
        val one = task.then { it }
        val two = task.then { it }
        val three = task.thenCompose { value -> scope.cancellableTask { value } }
        test.runCurrent()
        one.cancelAndJoin()
        one.cancel()
        three.cancelAndJoin()
        assertEquals(0L, test.currentTime)
        assertFalse(task.isCancelled)
        assertEquals(1, two.await())
    }

    @Test
    fun cancel_allConsumersAndALaterOne_cancelsTheSourceWithTheLastReason() = taskTest {
        val task = endless("source")
        val consumers = (1..3).map { task.then {} }
        test.runCurrent()
        val late = mutableListOf<Job>()
        consumers.forEachIndexed { i, consumer ->
            consumer.cancel("reason $i")
            if (i == 1) late += task.then {}
            assertFalse(task.isCancelled)
        }
        late.single().cancel("the last")
        task.join()
        assertEquals("the last", task.getCompletionExceptionOrNull()!!.message)
    }

    /** A thread pool queues the task, finds that it cannot start a thread, and throws. */
    @Test
    fun then_dispatcherThrows_isCancelledAndLeavesTheSource() = taskTest {
        for (hostility in listOf(Hostility.THROWS, Hostility.QUEUES_AND_THROWS)) {
            val own = CoroutineScope(scope.coroutineContext + Job())
            val task = own.cancellableTask { awaitCancellation() }
            val other = task.then { 1 }
            test.runCurrent()
            val dead = HostileDispatcher(hostility)
            val refused = task.then(dead) { note("not reached") }
            // It ends on a thread of kotlinx's.
            while (!refused.isCompleted) Thread.onSpinWait()
            dead.run()
            assertTrue(refused.isCancelled && task.isActive)
            other.cancel()
            assertTrue(task.isCancelled)
            own.coroutineContext.job.children.toList().joinAll()
        }
        assertEquals(emptyList<Any?>(), log)
    }

    @Test
    fun await_directly_doesNotHoldTheSource() = taskTest {
        val task = endless("source")
        val consumer = task.then {}
        val awaiter = scope.launch { note(thrownBy { task.await() }.message) }
        test.runCurrent()
        consumer.cancel("no consumer is left")
        awaiter.join()
        assertEquals(listOf<Any?>("source", "no consumer is left"), log)
    }

    @Test
    fun cancel_theSource_cancelsTheConsumersWithoutRunningTheirBlocks() = taskTest {
        val task = endless("source")
        val next = task.then { note("block") }
        task.cancel("why")
        assertEquals("why", thrownBy { next.await() }.message)
        assertEquals(emptyList<Any?>(), log - "source")
    }

    @Test
    fun source_fails_consumersFailWithTheSame() = taskTest {
        val failure = IOException("disk")
        val task =
            scope.cancellableTask {
                delay(1)
                throw failure
            }
        val next = task.then { note("block") }.thenCompose { endless("never") }
        next.join()
        assertSame(failure, next.getCompletionExceptionOrNull())
        assertEquals(emptyList<Any?>(), log)
    }

    @Test
    fun then_ofACompletedTask_runsInTheDispatcher() =
        taskTest(inPlace = false) {
            val task = scope.cancellableTask { 1 }
            task.join()
            val next = task.then { note("block") }
            next.then {}.cancel()
            test.runCurrent()
            assertEquals(emptyList<Any?>(), log)
            val other = task.then { note("other") }
            assertEquals(emptyList<Any?>(), log)
            other.join()
            assertEquals(listOf<Any?>("other"), log)
        }

    @Test
    fun then_failsOrIsCancelled_isTornDownAndTheSourceKeepsItsValue() = taskTest {
        val task =
            scope.cancellableTask {
                onTeardown { note("source") }
                1
            }
        val failing =
            task.then {
                onTeardown { note("failing") }
                throw IOException("disk")
            }
        assertEquals("disk", thrownBy { failing.await() }.message)
        val cancelled =
            task.then {
                onTeardown { note("cancelled") }
                awaitCancellation()
            }
        test.runCurrent()
        cancelled.cancelAndJoin()
        assertEquals(1, task.await())
        assertEquals(listOf<Any?>("failing", "cancelled"), log)
    }

    @Test
    fun then_inAScopeThatEnds_isCancelledAndLeavesAnotherScopesTaskToItself() = taskTest {
        val task = scope.cancellableTask { 1 }
        task.join()
        scope.coroutineContext.job.cancelAndJoin()
        val next = task.then { note("block") }
        next.join()
        assertTrue(next.isCancelled)
        assertEquals(emptyList<Any?>(), log)
    }

    /** A diamond: both ways must be cancelled before the source is. */
    @Test
    fun cancel_bothWaysThroughADiamond_cancelsTheSource() = taskTest {
        val source = endless("source")
        val left = source.then {}
        val right = source.then {}
        val joined = left.thenCompose { right }
        val other = right.then {}
        joined.cancel()
        assertTrue(left.isCancelled)
        assertFalse(source.isCancelled || right.isCancelled)
        other.cancel()
        assertTrue(source.isCancelled && right.isCancelled)
    }

    @Test
    fun scope_cancelled_reachesSourcesInOtherScopes() = taskTest {
        val elsewhere = CoroutineScope(scope.coroutineContext + Job())
        val source = endless("source")
        val outer = elsewhere.cancellableTask { 1 }.thenCompose { source }
        test.runCurrent()
        elsewhere.cancel("closing")
        assertTrue(source.isCancelled)
        outer.join()
        assertEquals(listOf<Any?>("source"), log)
    }

    /** Unconfined, the consumer runs on the canceller's stack, before anything it could wait for. */
    @Test
    fun cancel_unconfined_consumerEndsAfterItsSource() = taskTest {
        val unconfined = CoroutineScope(Dispatchers.Unconfined + Job())
        val gate = CompletableDeferred<Unit>()
        val task =
            unconfined.cancellableTask {
                onTeardown {
                    gate.await()
                    note("source")
                }
                awaitCancellation()
            }
        val next = task.then {}
        next.invokeOnCompletion { note("consumer") }
        next.cancel()
        assertTrue(task.isCancelled)
        assertFalse(next.isCompleted)
        gate.complete(Unit)
        assertEquals(listOf<Any?>("source", "consumer"), log)
    }

    /** A long chain that is held by its end must not hold its beginning. */
    @Test
    fun then_completed_doesNotRetainItsSourceNorItsBlock() {
        val (last, sources) = completedChain()
        assertCollected(sources)
        assertEquals(2, last.getCompleted())
    }

    /** In a function of its own: no local keeps anything. */
    private fun completedChain(): Pair<CancellableTask<Int>, List<WeakReference<Any>>> {
        val value = Any()
        val task =
            GlobalScope.cancellableTask(Dispatchers.Unconfined) {
                onTeardown { value.hashCode() }
                value
            }
        val middle = task.then(Dispatchers.Unconfined) { 1 }
        val inner = GlobalScope.cancellableTask(Dispatchers.Unconfined) { 2 }
        val last = middle.thenCompose(Dispatchers.Unconfined) { inner }
        return last to listOf<Any>(value, task, middle, inner).map { WeakReference(it) }
    }
}
