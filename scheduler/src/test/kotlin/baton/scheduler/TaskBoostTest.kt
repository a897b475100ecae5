package baton.scheduler

import baton.Priority
import baton.Priority.CRITICAL
import baton.Priority.HIGH
import baton.Priority.IDLE
import baton.Priority.LOW
import baton.Priority.NORMAL
import baton.PriorityController
import baton.priority
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Whoever awaits a task lends it its level, in the queue and on a dispatcher with levels. */
class TaskBoostTest {
    private val ran = ArrayList<String>()

    private fun TaskScheduler.add(level: Priority, name: String = "$level") = schedule(level) { ran += name }

    @Test
    fun `queued task that is awaited goes to the end of the caller's level`() = runTest {
        val scheduler = TaskScheduler(this, 1)
        scheduler.pause()
        val low = scheduler.add(LOW)
        for (level in listOf(NORMAL, HIGH, CRITICAL)) scheduler.add(level)
        launch(HIGH) { low.await() }
        runCurrent()
        scheduler.add(HIGH, "HIGH 2")
        assertEquals(LOW, low.priority)
        assertEquals(1, scheduler.metrics[HIGH].boosts)
        assertEquals(2 to 0, scheduler.metrics.run { this[HIGH].queued - 1 to this[LOW].queued })
        scheduler.resume()
        runCurrent()
        assertEquals("CRITICAL, HIGH, LOW, HIGH 2, NORMAL", ran.joinToString())
        assertEquals(1, scheduler.metrics[HIGH].started - 2)
    }

    @Test
    fun `who is not more urgent moves nothing`() = runTest {
        val scheduler = TaskScheduler(this, 1)
        scheduler.pause()
        val first = scheduler.add(NORMAL, "first")
        scheduler.add(NORMAL, "second")
        for (level in listOf(NORMAL, LOW, IDLE)) launch(level) { first.await() }
        launch { first.join() } // says nothing: NORMAL
        runCurrent()
        scheduler.resume()
        runCurrent()
        assertEquals(listOf("first", "second"), ran)
        assertEquals(0, Priority.entries.sumOf { scheduler.metrics[it].boosts })
    }

    @Test
    fun `join lifts too, and awaitAll does not`() = runTest {
        val scheduler = TaskScheduler(this, 1)
        scheduler.pause()
        val tasks = listOf(IDLE, LOW, NORMAL).map { scheduler.add(it) }
        launch(CRITICAL) { tasks[0].join() }
        launch(CRITICAL) { awaitAll(tasks[1]) }
        runCurrent()
        scheduler.resume()
        runCurrent()
        assertEquals("IDLE, NORMAL, LOW", ran.joinToString())
    }

    @Test
    fun `lifted task keeps its place in the queue when the caller leaves`() = runTest {
        val scheduler = TaskScheduler(this, 1)
        scheduler.pause()
        val low = scheduler.schedule(LOW) { ran += "runs at ${currentCoroutineContext().priority}" }
        val caller = launch(HIGH) { low.await() }
        scheduler.add(NORMAL)
        runCurrent()
        caller.cancelAndJoin()
        assertEquals(1, scheduler.metrics[HIGH].queued)
        scheduler.resume()
        runCurrent()
        assertEquals(listOf("runs at LOW", "NORMAL"), ran)
    }

    @Test
    fun `level that is set counts, and so does who awaits`() = runTest {
        val scheduler = TaskScheduler(this, 1)
        scheduler.pause()
        val task = scheduler.add(LOW)
        launch(HIGH) { task.await() }
        runCurrent()
        task.priority = IDLE
        assertEquals(1, scheduler.metrics[HIGH].queued)
        task.priority = CRITICAL
        assertEquals(1, scheduler.metrics[CRITICAL].queued)
        scheduler.resume()
    }

    @Test
    fun `running task is lifted as long as somebody more urgent awaits it`() = runTest {
        val scheduler = TaskScheduler(this, 1)
        val levels = ArrayList<Priority?>()
        val task = scheduler.schedule(LOW) {
            repeat(5) {
                levels += currentCoroutineContext().priority
                delay(1.seconds)
            }
        }
        runCurrent()
        delay(500)
        val high = launch(HIGH) { task.await() }
        delay(1.seconds)
        val critical = launch(CRITICAL) { task.await() }
        delay(1.seconds)
        critical.cancel()
        delay(1.seconds)
        high.cancel()
        delay(1.hours)
        assertEquals(listOf(LOW, HIGH, CRITICAL, HIGH, LOW), levels)
        assertEquals(1L to 1L, scheduler.metrics[HIGH].boosts to scheduler.metrics[CRITICAL].boosts)
        assertEquals(1, scheduler.metrics[LOW].done)
        assertEquals(0, scheduler.metrics.running)
    }

    @Test
    fun `run is lifted to its caller's level`() = runTest {
        val scheduler = TaskScheduler(this, 1)
        scheduler.pause()
        scheduler.add(HIGH)
        launch(CRITICAL) { scheduler.run(LOW) { ran += "run" } }
        runCurrent()
        scheduler.resume()
        runCurrent()
        assertEquals(listOf("run", "HIGH"), ran)
    }

    // ---- over a dispatcher with levels ----

    private fun TestScope.prioritized() = StandardTestDispatcher(testScheduler).prioritized(1)

    @Test
    fun `tasks run at their level on a dispatcher with levels, and follow it when it changes`() = runTest {
        val prioritized = prioritized()
        val scheduler = TaskScheduler(CoroutineScope(prioritized + Job()), 10)
        fun add(level: Priority) = scheduler.schedule(level) {
            ran += "$level"
            yield()
            ran += "$level again"
        }
        val idle = add(IDLE)
        val low = add(LOW)
        add(HIGH)
        launch(prioritized + CRITICAL) {
            low.priority = CRITICAL
            idle.priority = NORMAL
        }
        runCurrent()
        assertEquals("LOW, LOW again, HIGH, HIGH again, IDLE, IDLE again", ran.joinToString())
    }

    @Test
    fun `awaiting lifts all inside the task, queued in the dispatcher or not`() = runTest {
        val prioritized = prioritized()
        val scheduler = TaskScheduler(CoroutineScope(prioritized + Job()), 10)
        val task = scheduler.schedule(IDLE) {
            launch(LOW) { ran += "child of its own level" }
            yield()
            ran += "task"
        }
        runCurrent()
        ran.clear()
        val lifted = scheduler.schedule(IDLE) {
            ran += "lifted"
            launch(LOW) { ran += "lifted child" }
        }
        val plain = scheduler.schedule(LOW) { ran += "plain" }
        launch(prioritized + NORMAL) { ran += "normal" }
        launch(prioritized.level(HIGH)) {
            lifted.await()
            ran += "caller"
        }
        runCurrent()
        assertEquals("lifted, lifted child, caller, normal, plain", ran.joinToString())
        assertEquals(listOf(true, true), listOf(task, plain).map { it.isCompleted })
        assertEquals(1, scheduler.metrics[HIGH].boosts)
        assertEquals(0, prioritized.metrics.workers)
    }

    @Test
    fun `caller's controller says its level`() = runTest {
        val scheduler = TaskScheduler(this, 1)
        scheduler.pause()
        val task = scheduler.add(LOW)
        launch(PriorityController(HIGH)) { task.await() }
        runCurrent()
        assertEquals(1, scheduler.metrics[HIGH].queued)
        scheduler.resume()
    }
}
