package baton.scheduler.tasks

import baton.Priority
import baton.Priority.CRITICAL
import baton.Priority.HIGH
import baton.Priority.IDLE
import baton.Priority.LOW
import baton.Priority.NORMAL
import baton.PriorityController
import baton.priority
import baton.scheduler.TaskScheduler
import baton.scheduler.prioritized
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

/** A caller that awaits a task boosts it to its own level, in the queue and on a PriorityDispatcher. */
class TaskBoostTest {
    private val ran = ArrayList<String>()

    private fun TaskScheduler.add(level: Priority, name: String = "$level") = schedule(level) { ran += name }

    @Test
    fun await_queuedTask_movesToTheTailOfTheCallersLevel() = runTest {
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
    fun await_callerNotMoreUrgent_movesNothing() = runTest {
        val scheduler = TaskScheduler(this, 1)
        scheduler.pause()
        val first = scheduler.add(NORMAL, "first")
        scheduler.add(NORMAL, "second")
        for (level in listOf(NORMAL, LOW, IDLE)) launch(level) { first.await() }
        launch { first.join() } // no level: NORMAL
        runCurrent()
        scheduler.resume()
        runCurrent()
        assertEquals(listOf("first", "second"), ran)
        assertEquals(0, Priority.entries.sumOf { scheduler.metrics[it].boosts })
    }

    @Test
    fun join_boosts_awaitAllDoesNot() = runTest {
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
    fun await_callerCancelled_queuedTaskKeepsItsPosition() = runTest {
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
    fun level_ofATask_isTheMoreUrgentOfItsOwnAndItsAwaiters() = runTest {
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
    fun await_runningTask_isBoostedWhileAMoreUrgentCallerWaits() = runTest {
        val scheduler = TaskScheduler(this, 1)
        val levels = ArrayList<Priority?>()
        val task =
            scheduler.schedule(LOW) {
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
    fun run_isBoostedToItsCallersLevel() = runTest {
        val scheduler = TaskScheduler(this, 1)
        scheduler.pause()
        scheduler.add(HIGH)
        launch(CRITICAL) { scheduler.run(LOW) { ran += "run" } }
        runCurrent()
        scheduler.resume()
        runCurrent()
        assertEquals(listOf("run", "HIGH"), ran)
    }

    // ---- on a PriorityDispatcher ----

    private fun TestScope.prioritized() = StandardTestDispatcher(testScheduler).prioritized(1)

    @Test
    fun tasks_onAPriorityDispatcher_runAtTheirCurrentLevel() = runTest {
        val prioritized = prioritized()
        val scheduler = TaskScheduler(CoroutineScope(prioritized + Job()), 10)
        fun add(level: Priority) =
            scheduler.schedule(level) {
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
    fun await_boostsAllCoroutinesInsideTheTask_queuedOrRunning() = runTest {
        val prioritized = prioritized()
        val scheduler = TaskScheduler(CoroutineScope(prioritized + Job()), 10)
        val task =
            scheduler.schedule(IDLE) {
                launch(LOW) { ran += "child of its own level" }
                yield()
                ran += "task"
            }
        runCurrent()
        ran.clear()
        val boosted =
            scheduler.schedule(IDLE) {
                ran += "boosted"
                launch(LOW) { ran += "boosted child" }
            }
        val plain = scheduler.schedule(LOW) { ran += "plain" }
        launch(prioritized + NORMAL) { ran += "normal" }
        launch(prioritized.level(HIGH)) {
            boosted.await()
            ran += "caller"
        }
        runCurrent()
        assertEquals("boosted, boosted child, caller, normal, plain", ran.joinToString())
        assertEquals(listOf(true, true), listOf(task, plain).map { it.isCompleted })
        assertEquals(1, scheduler.metrics[HIGH].boosts)
        assertEquals(0, prioritized.metrics.workers)
    }

    @Test
    fun await_callerWithAController_boostsToItsLevel() = runTest {
        val scheduler = TaskScheduler(this, 1)
        scheduler.pause()
        val task = scheduler.add(LOW)
        launch(PriorityController(HIGH)) { task.await() }
        runCurrent()
        assertEquals(1, scheduler.metrics[HIGH].queued)
        scheduler.resume()
    }
}
