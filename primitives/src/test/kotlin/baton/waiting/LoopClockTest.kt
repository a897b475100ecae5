package baton.waiting

import baton.waiting.threads.LimitedViews
import baton.waiting.threads.LoopKeeper
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.RejectedExecutionException
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Delay
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout

/** The pauses of loops, by the clock of their dispatcher. */
@OptIn(InternalCoroutinesApi::class)
@Timeout(120)
class LoopClockTest {
    private val reported = ConcurrentLinkedQueue<Throwable>()

    private fun keeper(dispatcher: CoroutineDispatcher) = LoopKeeper(dispatcher, "loop", { reported += it })

    /** Its blocks and timers run when the test says so, or its timers [fail] to be set. */
    private class ManualClock(private val fail: (() -> Throwable)? = null, private val sets: Boolean = true) :
        CoroutineDispatcher(), Delay {
        val blocks = ArrayDeque<Runnable>()
        val timers = ArrayDeque<Runnable>()

        override fun dispatch(context: CoroutineContext, block: Runnable) {
            if (fail == null) blocks += block else block.run()
        }

        override fun invokeOnTimeout(timeMillis: Long, block: Runnable, context: CoroutineContext): DisposableHandle {
            if (sets) timers += block
            if (fail != null) throw fail()
            return DisposableHandle {}
        }

        override fun scheduleResumeAfterDelay(timeMillis: Long, continuation: CancellableContinuation<Unit>) =
            throw UnsupportedOperationException()

        fun runBlocks() {
            while (true) (blocks.removeFirstOrNull() ?: return).run()
        }
    }

    /** A view of one thread is how users confine what their loops call. */
    @Test
    fun loop_onAView_goesOnInsideOfItAfterADelay() = runBlocking {
        val clock = ManualClock()
        val view = LimitedViews.of(clock, 1)
        val order = ArrayList<String>()
        launch(keeper(view).dispatcher, CoroutineStart.UNDISPATCHED) { delay(1.seconds).also { order += "loop" } }
        view.dispatch(coroutineContext) {
            order += "begin"
            clock.timers.removeFirst().run()
            order += "end"
        }
        clock.runBlocks()
        assertEquals(listOf("begin", "end", "loop"), order)
    }

    @Test
    fun clock_thatThrows_isHeardOnce_andTheLoopPausesByTheSystems() = runBlocking {
        val failure = RejectedExecutionException("closed")
        for (sets in listOf(false, true)) {
            val clock = ManualClock({ failure }, sets)
            assertRepeats(clock)
            // It may have set the timers all the same.
            clock.timers.forEach(Runnable::run)
            assertEquals(listOf(STEP_FAILS, failure), reported.map { it.cause ?: it })
            reported.clear()
        }
    }

    @Test
    fun clock_thatThrowsWhereNoTimerCanBeSet_doesNotEndTheLoop() = runBlocking {
        NoTimerThread.during { assertRepeats(ManualClock({ OutOfMemoryError("no thread") }), hasTimer = false) }
        assertSame(STEP_FAILS, reported.first())
    }

    private suspend fun assertRepeats(clock: ManualClock, hasTimer: Boolean = true) {
        val end = IllegalArgumentException("end")
        var steps = 0
        val thrown = runCatching {
            withContext(keeper(clock).dispatcher) {
                keeper(clock).repeat(isFinal = { it === end }) {
                    if (++steps == 5) throw end
                    if (steps == 3) delay(1.milliseconds)
                    if (steps == 4)
                        withTimeoutOrNull(1.hours) { if (hasTimer) delay(1.milliseconds) else awaitCancellation() }
                    throw STEP_FAILS
                }
            }
        }
        assertEquals(end.message, thrown.exceptionOrNull()?.message)
        assertEquals(5, steps)
    }

    private companion object {
        val STEP_FAILS = IllegalStateException("step")
    }
}
