package baton.scheduler

import baton.BatonClock
import baton.Priority
import baton.clock
import baton.monitoring.Alert
import baton.monitoring.AlertRules
import baton.monitoring.Monitor
import baton.runBlockingOfAnyKotlinx
import baton.sync.Semaphore
import java.time.Instant
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** An object that is given no clock has that of the test in which it runs. */
@OptIn(ExperimentalCoroutinesApi::class)
internal class VirtualTimeTest {
    @Test
    fun schedule_runsInVirtualTime_fromTheDateOfTheSystem() = runTest {
        val runs = ArrayList<Long>()
        val schedule = Schedule<String>(action = { runs += currentTime })
        schedule.put("a", Trigger.every(10.minutes))
        val before = System.currentTimeMillis()
        val run = backgroundScope.launch { schedule.run() }
        advanceTimeBy(1.hours)
        runCurrent()
        assertEquals(6, runs.size, "$runs")
        val due = checkNotNull(schedule.nextDue("a")).toEpochMilli() - before
        assertTrue(due in 60 * 60_000L..71 * 60_000L) { "$due" }
        run.cancel()
    }

    /** A clock that cannot jump needs no looks: of those, one a minute, there would be half a million. */
    @Test
    fun schedule_overAYear_wakesUpForItsRunsAlone() = runTest {
        var runs = 0
        var readings = 0
        val virtual = clock
        val counting =
            object : BatonClock by virtual {
                override fun instant() = virtual.instant().also { readings++ }
            }
        val schedule = Schedule<String>(config = ScheduleConfig(clock = counting), action = { runs++ })
        schedule.put("daily", Trigger.every(1.days))
        backgroundScope.launch { schedule.run() }
        advanceTimeBy(365.days)
        runCurrent()
        assertEquals(365, runs)
        assertTrue(readings < 20 * 365) { "$readings" }
    }

    private class RefusingClock : BatonClock {
        override fun instant() = Instant.now()

        override fun nanoTime() = System.nanoTime()

        override fun schedule(delay: java.time.Duration, task: Runnable) = throw IllegalStateException("schedule")
    }

    @Test
    fun schedule_whoseClockRefusesTimers_runs_andEnds() {
        val runs = CountDownLatch(2)
        val schedule = Schedule<String>(config = ScheduleConfig(clock = RefusingClock()), action = { runs.countDown() })
        schedule.put("a", Trigger.every(20.milliseconds))
        val end =
            CompletableFuture.runAsync {
                runBlockingOfAnyKotlinx(Dispatchers.Default) {
                    val run = launch { schedule.run() }
                    assertTrue(runs.await(2, TimeUnit.MINUTES))
                    schedule.shutdown()
                    run.join()
                }
            }
        end.get(2, TimeUnit.MINUTES)
    }

    @Test
    fun taskScheduler_countsWaitsAndDeadlines_inTheTimeOfItsScope() = runTest {
        val config = TaskSchedulerConfig(maxWait = mapOf(Priority.LOW to 1.minutes), overdueShare = 2)
        val scheduler = TaskScheduler(this, 1, config = config)
        val order = ArrayList<String>()
        scheduler.schedule { delay(2.minutes) }
        scheduler.schedule(Priority.LOW) { order += "low" }
        repeat(3) { scheduler.schedule(Priority.HIGH) { order += "high" } }
        val late = scheduler.schedule(deadline = 10.seconds) {}
        delay(90.seconds)
        assertTrue(late.isCancelled)
        assertTrue(scheduler.usage().longestWait >= 89.seconds) { "${scheduler.usage()}" }
        delay(1.minutes)
        assertEquals("low", order.first(), "$order")
        scheduler.drain()
    }

    @Test
    fun taskScheduler_onAViewOfOurs_hasTheTimeOfTheTest() = runTest {
        val view = StandardTestDispatcher(testScheduler).prioritized(1)
        val scheduler = TaskScheduler(CoroutineScope(view), 1)
        scheduler.schedule { delay(2.minutes) }
        val late = scheduler.schedule(deadline = 1.minutes) {}
        delay(61.seconds)
        assertTrue(late.isCancelled)
        delay(2.minutes)
        scheduler.drain()
    }

    @Test
    fun monitor_raisesAndClears_inVirtualTime() = runTest {
        val alerts = ArrayList<Pair<Long, Alert>>()
        val semaphore = Semaphore(1, name = "uplink")
        val monitor =
            Monitor(backgroundScope, 500.milliseconds, AlertRules(after = 5.seconds)) { alerts += currentTime to it }
        monitor.watch(semaphore)
        semaphore.acquire()
        delay(10.seconds)
        semaphore.release()
        delay(10.seconds)
        assertEquals(listOf(true, false), alerts.map { it.second.raised }, "$alerts")
        assertTrue(alerts[0].first in 5_000L..5_500L && alerts[1].first in 15_000L..15_500L) { "$alerts" }
    }
}
