package baton.sync.barrier

import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.waiting.Caller
import baton.waiting.Callers
import java.util.concurrent.Executors
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The party that runs the action: it is cancelled, reset or its executor shut down, or it has no dispatcher. */
interface BarrierLeaders : BarrierFixture {
    @Test
    fun arrive_noDispatcherInALoop_staysInStep() {
        val barrier = barrier(3)
        val phases = IntArray(3)
        repeat(3) { party ->
            suspend {
                    repeat(1000) {
                        phases[party]++
                        barrier.arrive()
                        check(phases.max() - phases.min() <= 1)
                        barrier.arrive()
                    }
                }
                .startCoroutine(Continuation(EmptyCoroutineContext) { it.getOrThrow() })
        }
        assertEquals(listOf(1000, 1000, 1000), phases.toList())
        assertState(barrier, waiting = 0)
    }

    /** It has been chosen to run the action, and will never do so. */
    @Test
    fun arrive_executorOfTheNextLastPartyWasShutDown_generationBreaks() = runTest {
        val executor = Executors.newSingleThreadExecutor()
        val gate = CompletableDeferred<Unit>()
        var runs = 0
        val barrier = barrier(2) { gate.await().also { runs++ } }
        val first = List(2) { Callers(this).call { barrier.arrive() } }
        val other = Callers(this).call { barrier.arrive() }
        val dead = Callers(this).callAtOnce("dead", executor.asCoroutineDispatcher()) { barrier.arrive() }
        executor.shutdown()
        gate.complete(Unit)
        runCurrent()
        dead.job.join()
        runCurrent()
        assertTrue(first.all { it.isServed })
        assertTrue(dead.isCancelled)
        assertEquals("Barrier is broken: its last party was cancelled", assertBroken(other).message)
        assertState(barrier, waiting = 0, isBroken = true)
        assertEquals(1, runs)
    }

    /** It has been chosen to run the action, and is cancelled before it does. */
    @Test
    fun cancel_nextLastPartyBeforeItRan_generationBreaks() = runTest {
        val gate = CompletableDeferred<Unit>()
        var runs = 0
        val barrier = barrier(2) { gate.await().also { runs++ } }
        Callers(this).call { barrier.arrive() }
        val leader = Callers(this).callAtOnce(context = Dispatchers.Unconfined) { barrier.arrive() }
        val other = Callers(this).call { barrier.arrive() }
        val next = Callers(this).call { barrier.arrive() }
        gate.complete(Unit)
        assertTrue(leader.isServed)
        next.cancel()
        runCurrent()
        assertTrue(next.isCancelled)
        assertBroken(other)
        assertState(barrier, waiting = 0, isBroken = true)
        assertEquals(1, runs)
    }

    @Test
    fun action_lastPartyIsCancelledInItAndDoesNotNotice_breaks() = runTest {
        var last: Caller? = null
        val barrier = barrier(2) { last!!.cancel() }
        val other = Callers(this).call { barrier.arrive() }
        val gate = CompletableDeferred<Unit>()
        last =
            Callers(this).callAtOnce {
                gate.await()
                barrier.arrive()
            }
        gate.complete(Unit)
        runCurrent()
        assertTrue(last.isCancelled)
        assertInstanceOf(CancellationException::class.java, assertBroken(other).cause)
    }

    /** It was chosen when the action before it ended, and had not run yet. */
    @Test
    fun action_ofAPartyThatIsResetBeforeItBegins_doesNotBegin() = runTest {
        val end = CompletableDeferred<Unit>()
        var begun = 0
        val barrier =
            barrier(1) {
                begun++
                end.await()
            }
        val callers = Callers(this)
        val first =
            callers.call {
                barrier.arrive()
                barrier.reset()
            }
        val second = callers.call { barrier.arrive() }
        end.complete(Unit)
        runCurrent()
        assertTrue(first.isServed)
        assertBroken(second)
        assertEquals(1, begun)
        assertState(barrier, waiting = 0)
    }
}
