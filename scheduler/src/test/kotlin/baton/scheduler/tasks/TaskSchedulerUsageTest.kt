package baton.scheduler.tasks

import baton.Priority
import baton.monitoring.Alert
import baton.monitoring.AlertRules
import baton.monitoring.Monitor
import baton.monitoring.Monitored
import baton.monitoring.WatchedSources
import baton.scheduler.OnFullQueue
import baton.scheduler.Schedule
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.Trigger
import kotlin.time.Duration
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class TaskSchedulerUsageTest : WatchedSources() {
    /** In use, capacity, waiting, peak. */
    private fun Monitored.numbers() =
        usage().let { listOf(it.inUse, it.capacity, it.waiting, it.peakWaiting).joinToString(" ") }

    private fun TestScope.scheduler(capacity: Int = Int.MAX_VALUE) =
        TaskScheduler(
            backgroundScope,
            maxConcurrency = 2,
            name = "checks",
            TaskSchedulerConfig(capacity = capacity, onFull = OnFullQueue.SUSPEND),
        )

    @Test
    fun usage_ofAScheduler_isWhatRunsAndWhatWaits() {
        runTest {
            val scheduler = scheduler()
            assertEquals("0 2 0 0", scheduler.numbers())
            val tasks = List(14) { scheduler.schedule(key = "t$it") { awaitCancellation() } }
            val urgent = scheduler.schedule(Priority.CRITICAL) { awaitCancellation() }
            delay(3.seconds)
            val usage = scheduler.usage()
            assertEquals("checks", scheduler.name)
            assertEquals(
                "2 2 13 13",
                listOf(usage.inUse, usage.capacity, usage.waiting, usage.peakWaiting).joinToString(" "),
            )
            assertEquals(listOf("ScheduledTask") + List(9) { "ScheduledTask 't${it + 2}'" }, usage.waiters)
            assertEquals(3.seconds, usage.longestWait)
            assertEquals(mapOf("started" to 2L, "failed" to 0L, "refused" to 0L), usage.totals)
            (tasks + urgent).forEach { it.cancel() }
            delay(1.milliseconds)
            assertEquals("0 2 0 13", scheduler.numbers())
            assertEquals(13, scheduler.usage().peakWaiting)
            assertEquals(Duration.ZERO, scheduler.usage().longestWait)
        }
    }

    @Test
    fun tasks_thatFindASlot_haveNotWaited() {
        runTest {
            val scheduler = scheduler()
            repeat(100) { scheduler.run { delay(1.milliseconds) } }
            assertEquals(0, scheduler.usage().peakWaiting)
            assertEquals(100, scheduler.usage().totals["started"])
        }
    }

    @Test
    fun submitters_thatWaitForCapacity_count() {
        runTest {
            val scheduler = scheduler(capacity = 1)
            repeat(3) { scheduler.schedule { awaitCancellation() } }
            val submitter = launch { scheduler.submit(key = "late") {} }
            delay(1.seconds)
            assertEquals(listOf("ScheduledTask", "ScheduledTask 'late'"), scheduler.usage().waiters)
            assertEquals(2, scheduler.usage().waiting)
            scheduler.close()
            submitter.join()
            assertEquals(2, scheduler.usage().totals["refused"])
        }
    }

    @Test
    fun totals_countFailuresAndRefusals() {
        runTest {
            val scheduler = scheduler()
            repeat(3) { scheduler.schedule { error("failed") } }
            delay(1.milliseconds)
            scheduler.close()
            scheduler.schedule {}
            assertEquals(mapOf("started" to 3L, "failed" to 3L, "refused" to 1L), scheduler.usage().totals)
        }
    }

    @Test
    fun monitor_ofAScheduler_raisesAtExactInstants() {
        runTest {
            val alerts = mutableListOf<String>()
            val rules = AlertRules(longestWait = 10.seconds)
            val monitor = Monitor(backgroundScope, rules = rules) { alerts += "$currentTime ${it.kind} ${it.raised}" }
            val scheduler = scheduler()
            monitor.watchKept(scheduler)
            delay(100.milliseconds)
            val tasks =
                List(3) { scheduler.schedule { awaitCancellation() } } // seen at 500; 10 s at 10100, seen at 10500
            delay(20.seconds)
            assertEquals(listOf("5500 UTILISATION true", "15500 LONGEST_WAIT true"), alerts)
            assertEquals(listOf(Alert.Kind.UTILISATION, Alert.Kind.LONGEST_WAIT), monitor.active.map { it.kind })
            tasks.forEach { it.cancel() } // seen at 20500
            delay(6.seconds)
            assertEquals(listOf("25500 UTILISATION false", "25500 LONGEST_WAIT false"), alerts.drop(2))
        }
    }

    @Test
    fun usage_ofASchedule_isThatOfItsRuns() {
        runTest {
            val schedule = Schedule<String>(maxConcurrency = 1, name = "daily") { awaitCancellation() }
            assertEquals("daily 0 1 0 0", "${schedule.name} ${schedule.numbers()}")
            val running = launch { schedule.run() }
            // A schedule reads the wall clock, by which these are due after the test.
            schedule.put("a", Trigger.fixedDelay(1.days))
            schedule.put("b", Trigger.fixedDelay(1.days))
            schedule.triggerNow("a")
            schedule.triggerNow("b")
            delay(1.milliseconds)
            val usage = schedule.usage()
            assertEquals("1 1 1", listOf(usage.inUse, usage.capacity, usage.waiting).joinToString(" "))
            assertEquals(
                "fired, succeeded, failed, timedOut, cancelled, retried, skipped, lagTotal",
                usage.totals.keys.joinToString(),
            )
            assertEquals(1L, usage.totals["fired"])
            running.cancel()
            running.join()
            assertEquals(0, schedule.usage().inUse)
        }
    }
}
