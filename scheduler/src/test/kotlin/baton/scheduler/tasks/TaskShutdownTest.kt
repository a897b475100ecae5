package baton.scheduler.tasks

import baton.Priority
import baton.Priority.NORMAL
import baton.reportingTo
import baton.scheduler.SchedulerClosedException
import baton.scheduler.TaskScheduler
import baton.sync.assertContains
import java.io.IOException
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Pause and resume, drain and close. */
class TaskShutdownTest {
    private val ran = ArrayList<String>()

    @Test
    fun pause_startsNothing_runningTasksContinue() = runTest {
        val scheduler = TaskScheduler(this, 2)
        scheduler.schedule {
            delay(1.seconds)
            ran += "running"
        }
        scheduler.pause()
        scheduler.pause()
        scheduler.schedule { ran += "queued" }
        delay(1.hours)
        assertTrue(scheduler.isPaused)
        assertEquals(listOf("running"), ran)
        scheduler.resume()
        runCurrent()
        assertEquals(listOf("running", "queued"), ran)
        scheduler.resume()
    }

    @Test
    fun pauseAndResume_tenTimes_keepsExactlyMaxConcurrency() = runTest {
        val scheduler = TaskScheduler(this, 3)
        repeat(200) { scheduler.schedule { delay(1.seconds) } }
        repeat(10) {
            scheduler.pause()
            delay(500)
            scheduler.resume()
            assertEquals(3, scheduler.metrics.running)
            delay(800)
            assertEquals(3, scheduler.metrics.running)
        }
        scheduler.drain()
        assertEquals(200, scheduler.metrics[NORMAL].done)
    }

    @Test
    fun drain_returnsOnceTheLastTaskHasEnded() = runTest {
        val scheduler = TaskScheduler(this, 2)
        repeat(5) { i ->
            scheduler.schedule {
                try {
                    delay(1.seconds)
                } finally {
                    withContext(NonCancellable) { delay(1.seconds) }
                    ran += "$i"
                }
            }
        }
        val drains =
            List(3) {
                launch {
                    scheduler.drain()
                    ran += "drained"
                }
            }
        runCurrent()
        val late = scheduler.schedule { ran += "never" }
        assertTrue(late.getCompletionExceptionOrNull() is SchedulerClosedException)
        assertFalse(late.getCompletionExceptionOrNull() is CancellationException)
        drains.joinAll()
        assertEquals(listOf("0", "1", "2", "3", "4", "drained", "drained", "drained"), ran)
        assertEquals(6_000, currentTime)
        scheduler.drain()
        assertSumsFit(scheduler.metrics)
    }

    @Test
    fun drain_paused_waitsForResume_canBeCancelled() = runTest {
        val scheduler = TaskScheduler(this, 1)
        scheduler.pause()
        scheduler.schedule { ran += "task" }
        val given = launch { scheduler.drain() }
        val drain = launch { scheduler.drain() }
        delay(1.hours)
        assertTrue(drain.isActive && scheduler.isClosed)
        given.cancelAndJoin()
        scheduler.resume()
        drain.join()
        assertEquals(listOf("task"), ran)
    }

    @Test
    fun drain_withoutTasks_returnsAtOnce() = runTest {
        val scheduler = TaskScheduler(this, 1)
        scheduler.drain()
        scheduler.drain()
        assertContains(scheduler.toString(), "drained)")
        assertEquals(0, currentTime)
    }

    @Test
    fun close_failsQueuedTasksWithItsCause_runningTasksContinue() = runTest {
        val scheduler = TaskScheduler(this, 1, "closing")
        val running =
            scheduler.schedule {
                delay(1.seconds)
                "done"
            }
        val queued = Priority.entries.map { scheduler.schedule(it, key = it) { ran += "never" } }
        val cause = IOException("no network")
        scheduler.close(cause)
        scheduler.close(IOException("second"))
        val late = scheduler.schedule { ran += "never" }
        for (task in queued + late) {
            val e = task.getCompletionExceptionOrNull() as SchedulerClosedException
            assertSame(cause, e.cause)
            assertContains(e.message, "closing", "closed", task.priority)
        }
        assertFalse(running.isCompleted)
        scheduler.drain()
        assertEquals("done", running.getCompleted())
        assertTrue(ran.isEmpty())
        assertSumsFit(scheduler.metrics)
        assertEquals(2, scheduler.metrics[NORMAL].closed)
    }

    @Test
    fun close_endsADrainOfAPausedQueue() = runTest {
        val scheduler = TaskScheduler(this, 1)
        scheduler.pause()
        val task = scheduler.schedule { ran += "never" }
        val drain = async { scheduler.drain() }
        runCurrent()
        scheduler.close()
        drain.await()
        assertTrue(task.getCompletionExceptionOrNull() is SchedulerClosedException)
    }

    @Test
    fun run_closed_failsWithoutCancellingItsCaller() = runTest {
        val scheduler = TaskScheduler(this, 1)
        scheduler.schedule { delay(1.seconds) }
        val queued = async { runCatching { scheduler.run { ran += "never" } } }
        runCurrent()
        scheduler.close()
        val late = runCatching { scheduler.run { ran += "never" } }
        for (result in listOf(queued.await(), late)) {
            assertTrue(result.exceptionOrNull() is SchedulerClosedException, "$result")
        }
    }

    @Test
    fun close_keyThrows_allTasksEnd_noneIsKept() = runTest {
        class Key {
            var isBroken = false

            override fun equals(other: Any?) = if (isBroken) error("broken") else this === other

            override fun hashCode() = if (isBroken) error("broken") else 1
        }
        val keys = List(2) { Key() }
        val scheduler = TaskScheduler(CoroutineScope(coroutineContext + Job()), 1)
        scheduler.pause()
        val tasks = List(4) { scheduler.schedule(key = keys.getOrNull(it)) {} }
        keys.forEach { it.isBroken = true }
        val reported = ArrayList<Throwable>()
        reportingTo(reported) {
            tasks[1].cancel()
            scheduler.close()
        }
        assertTrue(tasks.all { it.isCompleted })
        assertEquals(emptyList<Throwable>(), reported)
        keys.forEach { it.isBroken = false }
        for (key in keys) assertTrue(scheduler.keys.of(key).isEmpty())
        scheduler.drain()
    }
}
