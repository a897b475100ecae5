package baton.scheduler.schedule

import baton.Priority
import baton.scheduler.Due
import baton.scheduler.Misfire
import baton.scheduler.Overlap
import baton.scheduler.Schedule
import baton.scheduler.Trigger
import java.time.Instant
import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Edits while a run waits for a place, or for the end of the last one: it does not begin. */
class QueuedRunTest {
    /** A schedule with one place, which an entry takes from 55 s to 75 s; so a run that is due at 60 s is queued. */
    private fun ScheduleWorld.blocked(overlap: Overlap = Overlap.SKIP): Schedule<String> {
        val block: suspend (Due<String>) -> Unit = { if (it.key == "blocker") delay(20.seconds) }
        return started(config(overlap = overlap), maxConcurrency = 1, action = block).also {
            it.put("blocker", Trigger.at(Instant.ofEpochSecond(55)))
        }
    }

    @Test
    fun metrics_whileRunsWait_countThemByLevel() = scheduleTest {
        val schedule = blocked()
        assertEquals(0, schedule.metrics.queued)
        schedule.put("a", everyMinute, Priority.HIGH)
        schedule.put("b", everyMinute, Priority.HIGH)
        schedule.put("c", everyMinute, Priority.IDLE)
        pass(65.seconds)
        val metrics = schedule.metrics
        assertEquals(3, metrics.queued)
        assertEquals(listOf(0, 2, 0, 0, 1), Priority.entries.map(metrics::queued))
        // Real time, which goes on at some point.
        while (schedule.metrics.headWait == Duration.ZERO) Thread.onSpinWait()
        pass(10.seconds)
        assertEquals(0, schedule.metrics.queued)
        assertEquals(Duration.ZERO, schedule.metrics.headWait)
    }

    @Test
    fun pauseAndResume_whileTheRunIsQueued_dropsIt() {
        for (overlap in Overlap.entries) scheduleTest {
            val schedule = blocked(overlap)
            schedule.put("a", everyMinute)
            pass(65.seconds)
            schedule.pause("a")
            schedule.resume("a")
            pass(60.seconds)
            assertEquals(listOf(120L), timesOf("a"))
            assertEquals(0, schedule.metrics.skipped)
        }
    }

    @Test
    fun removeAndPut_whileTheRunIsQueued_dropsIt() = scheduleTest {
        val schedule = blocked()
        schedule.put("a", everyMinute)
        pass(65.seconds)
        schedule.remove("a")
        schedule.put("a", Trigger.at(Instant.ofEpochSecond(70)))
        pass(60.seconds)
        assertEquals(listOf(70L), timesOf("a"))
        assertEquals(0, schedule.size)
    }

    @Test
    fun pauseAndResume_whileTheOnlyRunIsQueued_runsOnce() = scheduleTest {
        val schedule = blocked()
        schedule.put("a", Trigger.at(Instant.ofEpochSecond(60)))
        pass(65.seconds)
        schedule.pause("a")
        schedule.resume("a")
        pass(60.seconds)
        assertEquals(listOf(60L), timesOf("a"))
        assertEquals(0, schedule.size)
    }

    @Test
    fun pause_whileTheOnlyRunIsQueued_keepsTheEntry() = scheduleTest {
        val schedule = blocked()
        schedule.put("a", Trigger.at(Instant.ofEpochSecond(60)))
        schedule.put("b", Trigger.fixedDelay(60.seconds))
        pass(65.seconds)
        schedule.pause("a")
        schedule.pause("b")
        pass(60.seconds)
        assertEquals(2, schedule.size)
        schedule.resume("a")
        schedule.resume("b")
        pass(60.seconds)
        assertEquals(listOf(60L), timesOf("a"))
        assertEquals(listOf(185L), timesOf("b"))
    }

    @Test
    fun pause_afterTriggerNow_whileTheRunIsQueued_dropsIt() = scheduleTest {
        val schedule = blocked()
        schedule.put("a", Trigger.every(60.minutes, Instant.EPOCH))
        pass(60.seconds)
        schedule.triggerNow("a")
        pass(5.seconds)
        schedule.pause("a")
        pass(60.seconds)
        assertEquals(listOf<Long>(), timesOf("a"))
        schedule.triggerNow("a")
        pass(60.seconds)
        assertEquals(listOf(125L), timesOf("a"), "of a paused entry")
    }

    @Test
    fun pauseAndResume_whileItCatchesUp_endsThat() = scheduleTest {
        val schedule = schedule(config(Misfire.CatchUp(5))) { delay(5.seconds) }
        schedule.put("a", everyMinute)
        pass(5.minutes)
        start(schedule)
        pass(7.seconds)
        schedule.pause("a")
        schedule.resume("a")
        pass(60.seconds)
        assertEquals(listOf(60L, 120L, 360L), timesOf("a"))
    }

    @Test
    fun removeAndPut_whileTheActionRuns_waitsForItsEnd() = scheduleTest {
        val schedule = started(config(overlap = Overlap.QUEUE_ONE)) { delay(20.seconds) }
        schedule.put("a", everyMinute)
        pass(65.seconds)
        schedule.remove("a")
        schedule.put("a", Trigger.at(Instant.ofEpochSecond(70)))
        pass(10.seconds)
        assertEquals(1, schedule.metrics.running)
        pass(10.seconds)
        assertEquals(listOf(60L, 70L), timesOf("a"))
        assertEquals(10.seconds, runs.last().lag)
        pass(60.seconds)
        assertEquals(0, schedule.size)
    }

    @Test
    fun removedKeys_whoseRunsAreQueued_leaveNothingBehind() = scheduleTest {
        val schedule = blocked()
        for (i in 0 until 100) schedule.put("$i", Trigger.at(Instant.ofEpochSecond(60)))
        pass(65.seconds)
        for (i in 0 until 100) schedule.remove("$i")
        for (i in 100 until 200) schedule.put("$i", Trigger.at(Instant.ofEpochSecond(65)))
        pass(60.seconds)
        assertEquals((100 until 200).map { "$it" }, runs.drop(1).map { it.key })
        assertEquals(0 to 0, schedule.size to schedule.metrics.running)
    }
}
