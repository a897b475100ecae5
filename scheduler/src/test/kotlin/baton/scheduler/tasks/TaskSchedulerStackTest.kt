package baton.scheduler.tasks

import baton.Priority
import baton.scheduler.TaskScheduler
import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.Continuation
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.cancel
import kotlinx.coroutines.job
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** Tasks that never suspend; the end of each starts the next. Runs with a small stack. */
class TaskSchedulerStackTest {
    enum class World(val context: CoroutineContext) {
        UNCONFINED(Dispatchers.Unconfined),
        IMMEDIATE(Immediate(isNeeded = false)),
        SAME_THREAD(Immediate(isNeeded = true)),
        NO_DISPATCHER(SameThread),
    }

    /** An interceptor that runs coroutines in place and is no dispatcher. */
    private object SameThread : AbstractCoroutineContextElement(ContinuationInterceptor), ContinuationInterceptor {
        override fun <T> interceptContinuation(continuation: Continuation<T>) =
            Continuation(continuation.context, continuation::resumeWith)
    }

    private class Immediate(private val isNeeded: Boolean) : CoroutineDispatcher() {
        override fun isDispatchNeeded(context: CoroutineContext) = isNeeded

        override fun dispatch(context: CoroutineContext, block: Runnable) = block.run()
    }

    private var done = 0

    private fun scheduler(world: World) = TaskScheduler(CoroutineScope(world.context + Job()), 1)

    private fun assertAtRest(scheduler: TaskScheduler) {
        assertEquals(0, scheduler.metrics.queued + scheduler.metrics.running)
        assertTrue(scheduler.scope.coroutineContext.job.children.none())
    }

    @ParameterizedTest
    @EnumSource
    fun resume_manyTasksQueued_runsAll(world: World) {
        val scheduler = scheduler(world)
        scheduler.pause()
        repeat(MANY) { scheduler.schedule(Priority.entries[it % 5]) { done++ } }
        scheduler.resume()
        assertEquals(MANY, done)
        assertAtRest(scheduler)
    }

    @ParameterizedTest
    @EnumSource
    fun schedule_manyTasksOneAfterAnother_runsAll(world: World) {
        val scheduler = scheduler(world)
        repeat(MANY) { scheduler.schedule { done++ } }
        assertEquals(MANY, done)
        assertAtRest(scheduler)
    }

    @ParameterizedTest
    @EnumSource
    fun schedule_eachTaskSchedulesTheNext_runsAll(world: World) {
        val scheduler = scheduler(world)
        fun next() {
            scheduler.schedule { if (++done < MANY) next() }
        }
        next()
        assertEquals(MANY, done)
        assertAtRest(scheduler)
    }

    @ParameterizedTest
    @EnumSource
    fun tasks_manyFailOrAreCancelledWithTheirScope_allEnd(world: World) {
        val scheduler = scheduler(world)
        val failure = IllegalStateException("at once")
        scheduler.pause()
        repeat(MANY) { scheduler.schedule { throw failure } }
        scheduler.resume()
        assertEquals(MANY.toLong(), scheduler.metrics[Priority.NORMAL].failed)
        scheduler.pause()
        repeat(MANY) { scheduler.schedule { done++ } }
        scheduler.scope.cancel()
        scheduler.resume()
        assertEquals(0, done)
        assertAtRest(scheduler)
    }

    @Test
    fun tasks_manyOfADispatcherThatThrows_allFail() = runBlocking {
        val refusing =
            object : CoroutineDispatcher() {
                override fun dispatch(context: CoroutineContext, block: Runnable) =
                    throw IllegalStateException("refused")
            }
        val scheduler = TaskScheduler(CoroutineScope(refusing + Job()), 1)
        scheduler.pause()
        repeat(MANY) { scheduler.schedule { done++ } }
        scheduler.resume()
        scheduler.drain()
        // The last task leaves its scope after that.
        scheduler.scope.coroutineContext.job.children.forEach { it.join() }
        assertEquals(MANY.toLong(), scheduler.metrics[Priority.NORMAL].failed)
        assertEquals(0, done)
        assertAtRest(scheduler)
    }

    private companion object {
        const val MANY = 20_000
    }
}
