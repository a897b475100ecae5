package baton.scheduler.schedule

import baton.monitoring.Alert
import baton.monitoring.AlertRules
import baton.monitoring.Monitor
import baton.scheduler.Misfire
import baton.scheduler.Overlap
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.TaskTimeoutException
import baton.scheduler.Trigger
import java.io.IOException
import java.time.Instant
import kotlin.time.Duration
import kotlin.time.Duration.Companion.ZERO
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.UnconfinedTestDispatcher
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Test

/** Runs that are ended: by their time limit, and by their key. */
class RunLimitTest {
    private val every10 = Trigger.every(10.seconds, anchor = Instant.EPOCH)

    private fun ScheduleWorld.limited(
        limit: Duration,
        overlap: Overlap = Overlap.SKIP,
        misfire: Misfire = Misfire.FireOnce,
    ) =
        config(misfire, overlap).let {
            ScheduleConfig(misfire, overlap, onFailure = it.onFailure, clock = it.clock, runTimeout = { limit })
        }

    /** Succeeded, failed, timed out, cancelled, running, skipped. */
    private fun Schedule<*>.ends() =
        metrics.run { listOf(succeeded, failed, timedOut, cancelled, running.toLong(), skipped) }

    @Test
    fun run_thatTakesTooLong_isCancelled_fails_andTheNextOneFires() = scheduleTest {
        var ended = 0
        val schedule =
            started(limited(3.seconds)) {
                try {
                    awaitCancellation()
                } finally {
                    ended++
                }
            }
        schedule.put("a", every10)
        pass(12.seconds)
        assertEquals(listOf(0L, 0L, 0L, 0L, 1L, 0L), schedule.ends())
        assertEquals(2.seconds, schedule.usage().longestRun)
        pass(1.seconds)
        assertEquals(1, ended)
        assertEquals(listOf(0L, 0L, 1L, 0L, 0L, 0L), schedule.ends())
        assertEquals(ZERO, schedule.usage().longestRun)
        assertEquals("the run of 'a' took longer than 3s", failures.single().second.message)
        assertInstanceOf(TaskTimeoutException::class.java, failures.single().second)
        pass(20.seconds)
        assertEquals(listOf(10L, 20L, 30L), times)
        assertEquals(listOf(0L, 0L, 3L, 0L, 0L, 0L), schedule.ends())
    }

    @Test
    fun limit_countsFromTheBeginOfTheAction_notFromTheDueTime() = scheduleTest {
        val schedule = started(limited(3.seconds), maxConcurrency = 1) { delay(2.seconds) }
        for (key in listOf("a", "b", "c")) schedule.put(key, every10)
        pass(17.seconds)
        assertEquals(listOf(3L, 0L, 0L, 0L, 0L, 0L), schedule.ends())
    }

    @Test
    fun action_thatReturnsAfterItsLimit_hasTimedOut_andKeepsItsPlaceUntilThen() = scheduleTest {
        val schedule = started(limited(3.seconds)) { withContext(NonCancellable) { delay(8.seconds) } }
        schedule.put("a", Trigger.fixedDelay(10.seconds))
        pass(17.seconds)
        assertEquals(7.seconds, schedule.usage().longestRun)
        assertEquals(listOf(0L, 0L, 0L, 0L, 1L, 0L), schedule.ends())
        pass(12.seconds)
        assertEquals(listOf(0L, 0L, 1L, 0L, 1L, 0L), schedule.ends())
        assertEquals(listOf(10L, 28L), times)
    }

    @Test
    fun failure_duringTheCleanUpOfALateRun_isSuppressedInTheTimeout() = scheduleTest {
        val schedule =
            started(limited(3.seconds)) {
                try {
                    awaitCancellation()
                } finally {
                    throw IOException("clean up")
                }
            }
        schedule.put("a", every10)
        pass(13.seconds)
        assertEquals(listOf("clean up"), failures.single().second.suppressed.map { it.message })
    }

    @Test
    fun timeoutOfTheActionItself_isAFailure_andNoTimeoutOfTheRun() = scheduleTest {
        val schedule = started(limited(3.seconds)) { withTimeout(1.seconds) { awaitCancellation() } }
        schedule.put("a", every10)
        pass(15.seconds)
        assertEquals(listOf(0L, 1L, 0L, 0L, 0L, 0L), schedule.ends())
    }

    @Test
    fun limitThatThrows_orIsNotPositive_failsTheRunAlone() = scheduleTest {
        val limits = mapOf("throws" to null, "zero" to ZERO, "negative" to (-1).seconds)
        val config = config()
        val limited =
            ScheduleConfig(
                onFailure = config.onFailure,
                clock = config.clock,
                runTimeout = { if (it in limits) limits[it] ?: error("no limit") else 3.seconds },
            )
        val schedule = started(limited)
        for (key in limits.keys + "good") schedule.put(key, every10)
        pass(15.seconds)
        assertEquals(listOf(1L, 3L, 0L, 0L, 0L, 0L), schedule.ends())
        assertEquals(
            setOf(
                "no limit",
                "runTimeout of 'zero' = 0s, must be positive",
                "runTimeout of 'negative' = -1s, must be positive",
            ),
            failures.map { it.second.message }.toSet(),
        )
        assertEquals(listOf("good"), runs.map { it.key }.filter { it !in limits })
    }

    @Test
    fun cancelRun_ofARunThatGoesOn_countsAsCancelled_isNotRepeatedAndNotReported() = scheduleTest {
        val schedule = started { awaitCancellation() }
        schedule.put("a", Trigger.fixedDelay(10.seconds))
        schedule.put("once", Trigger.at(Instant.ofEpochSecond(10)))
        pass(12.seconds)
        assertEquals(1, schedule.cancelRun("a"))
        assertEquals(0, schedule.cancelRun("a"), "a second call finds none")
        assertEquals(1, schedule.cancelRun("once"))
        assertEquals(0, schedule.cancelRun("unknown"))
        pass(ZERO)
        assertEquals(listOf(0L, 0L, 0L, 2L, 0L, 0L), schedule.ends())
        assertEquals(1, schedule.size, "the one-time entry has ended")
        assertEquals(Instant.ofEpochSecond(22), schedule.nextDue("a"))
        pass(10.seconds)
        assertEquals(listOf(10L, 22L), timesOf("a"))
        assertEquals(0, failures.size)
    }

    @Test
    fun cancelRun_endsAllRunsOfTheEntry_waitingOnesToo() = scheduleTest {
        val schedule = started(config(overlap = Overlap.ALLOW), maxConcurrency = 2) { awaitCancellation() }
        schedule.put("a", every10)
        schedule.put("b", every10)
        pass(35.seconds)
        schedule.triggerNow("a")
        assertEquals(4, schedule.cancelRun("a"), "one runs, two wait for a place, one was requested")
        pass(ZERO)
        assertEquals(listOf(0L, 0L, 0L, 4L, 2L, 0L), schedule.ends())
        assertEquals(0L, schedule.metrics.failed)
    }

    @Test
    fun cancelRun_dropsTheRunThatWaitsForTheEnd_andOneThatComesDuringTheEndRuns() = scheduleTest {
        val schedule =
            started(config(overlap = Overlap.QUEUE_ONE)) {
                if (runs.size == 1) {
                    try {
                        awaitCancellation()
                    } finally {
                        withContext(NonCancellable) { delay(10.seconds) }
                    }
                }
            }
        schedule.put("a", every10)
        pass(25.seconds)
        assertEquals(2, schedule.cancelRun("a"))
        pass(9.seconds)
        assertEquals(listOf(10L), times)
        pass(1.seconds)
        assertEquals(listOf(10L, 30L), times)
        assertEquals(listOf(1L, 0L, 0L, 2L, 0L, 0L), schedule.ends())
    }

    @Test
    fun cancelRun_endsTheMakingUpForMissedTimes() = scheduleTest {
        val schedule = started(config(misfire = Misfire.CatchUp(10))) { awaitCancellation() }
        schedule.put("a", every10)
        pass(1.seconds)
        jump(1.minutes)
        pass(10.seconds)
        assertEquals(1, runs.size)
        assertEquals(1, schedule.cancelRun("a"))
        pass(ZERO)
        assertEquals(1, runs.size)
        assertEquals(0, schedule.metrics.running)
    }

    @Test
    fun cancelRun_ofAnEntryThatWasRemoved_endsItsRun() = scheduleTest {
        val schedule = started { awaitCancellation() }
        schedule.put("a", every10)
        pass(12.seconds)
        schedule.remove("a")
        assertEquals(1, schedule.cancelRun("a"))
        pass(ZERO)
        assertEquals(listOf(0L, 0L, 0L, 1L, 0L, 0L), schedule.ends())
        assertEquals(0, schedule.cancelRun("a"))
    }

    @Test
    fun cancelRun_fromTheActionItself_onADispatcherThatRunsInPlace_endsIt() = scheduleTest { scope ->
        lateinit var schedule: Schedule<String>
        var afterwards = 0
        schedule = schedule {
            schedule.cancelRun("a")
            delay(1.seconds)
            afterwards++
        }
        scope.backgroundScope.launch(UnconfinedTestDispatcher(scope.testScheduler)) { schedule.run() }
        schedule.put("a", every10)
        pass(15.seconds)
        assertEquals(0, afterwards)
        assertEquals(listOf(0L, 0L, 0L, 1L, 0L, 0L), schedule.ends())
    }

    @Test
    fun cancelRun_whoseActionFailsInItsCleanUp_reportsThat() = scheduleTest {
        val schedule = started {
            try {
                awaitCancellation()
            } catch (e: CancellationException) {
                throw IOException("clean up", e)
            }
        }
        schedule.put("a", every10)
        pass(12.seconds)
        schedule.cancelRun("a")
        pass(ZERO)
        assertEquals(listOf("clean up"), failures.map { it.second.message })
        assertEquals(listOf(0L, 0L, 0L, 1L, 0L, 0L), schedule.ends())
    }

    @Test
    fun cancelledRun_isNotRepeatedAtTheNextStart() = scheduleTest {
        val store = FaultyStore()
        val schedule = started(store = store) { awaitCancellation() }
        schedule.put("once", Trigger.at(Instant.ofEpochSecond(10)))
        pass(12.seconds)
        schedule.cancelRun("once")
        pass(ZERO)
        schedule.shutdown()
        assertThrows(IllegalStateException::class.java) { schedule.cancelRun("once") }
        started(store = store)
        pass(1.minutes)
        assertEquals(1, runs.size)
    }

    @Test
    fun runThatTakesLong_raisesAnAlert() = scheduleTest { scope ->
        val alerts = ArrayList<Alert>()
        val rules = AlertRules(after = ZERO, longestRun = 30.seconds)
        val monitor = Monitor(scope.backgroundScope, rules = rules) { alerts += it }
        val schedule = started { delay(40.seconds) }
        monitor.watch(schedule)
        schedule.put("a", Trigger.at(Instant.ofEpochSecond(10)))
        pass(39.seconds)
        assertEquals(0, alerts.size)
        pass(2.seconds)
        assertEquals(listOf(Alert.Kind.LONGEST_RUN to true), alerts.map { it.kind to it.raised })
        pass(30.seconds)
        assertEquals(listOf(true, false), alerts.map { it.raised })
    }

    @Test
    fun totals_tellTheOutcomesAndTheLag() = scheduleTest {
        val schedule =
            started(limited(3.seconds), maxConcurrency = 1) { if (it.key == "bad") error("x") else delay(1.seconds) }
        for (key in listOf("a", "b", "bad")) schedule.put(key, every10)
        pass(15.seconds)
        val totals = schedule.usage().totals
        assertEquals(
            listOf(3L, 2L, 1L, 0L, 0L, 0L),
            listOf("fired", "succeeded", "failed", "timedOut", "cancelled", "skipped").map { totals[it] },
        )
        assertEquals(3_000_000L, totals["lagTotal"])
        assertEquals(3.seconds, schedule.metrics.lagTotal)
    }
}
