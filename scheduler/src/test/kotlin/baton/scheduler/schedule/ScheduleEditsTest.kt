package baton.scheduler.schedule

import baton.Priority
import baton.scheduler.Schedule
import baton.scheduler.Trigger
import java.time.Instant
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Edits of entries before and while they run, in virtual time. */
class ScheduleEditsTest {
    @Test
    fun put_again_replacesTheTrigger() = scheduleTest {
        val schedule = started()
        schedule.put("a", everyMinute)
        pass(90.seconds)
        schedule.put("a", Trigger.every(25.seconds, Instant.EPOCH), Priority.LOW)
        assertEquals(Instant.ofEpochSecond(100), schedule.nextDue("a"))
        pass(40.seconds)
        assertEquals(listOf(60L, 100L, 125L), times)
        assertEquals(1, schedule.size)
    }

    @Test
    fun put_dueEarlierThanTheOthers_wakesTheLoop() = scheduleTest {
        val schedule = started()
        schedule.put("a", everyMinute)
        pass(1.seconds)
        schedule.put("b", Trigger.at(Instant.ofEpochSecond(2)))
        pass(1.seconds)
        assertEquals(listOf(2L), times)
    }

    @Test
    fun remove_isAtOnceInEffect() = scheduleTest {
        val schedule = schedule()
        schedule.put("a", everyMinute)
        assertTrue(schedule.remove("a"))
        assertFalse(schedule.remove("a"))
        assertEquals(0, schedule.size)
        start(schedule)
        schedule.put("a", everyMinute)
        assertTrue(schedule.remove("a"))
        pass(10.minutes)
        assertEquals(0, runs.size)
    }

    @Test
    fun remove_whileTheActionRuns_doesNotCancelIt() = scheduleTest {
        var hasEnded = false
        val schedule = started {
            delay(5.seconds)
            hasEnded = true
        }
        schedule.put("a", Trigger.fixedDelay(1.seconds))
        pass(2.seconds)
        assertTrue(schedule.remove("a"))
        pass(1.minutes)
        assertTrue(hasEnded)
        assertEquals(listOf(1L), times)
        assertEquals(0, schedule.size)
    }

    @Test
    fun remove_whileTheRunIsQueued_dropsIt() = scheduleTest {
        val schedule = started(maxConcurrency = 1) { delay(10.seconds) }
        schedule.put("a", Trigger.at(Instant.ofEpochSecond(1)))
        schedule.put("b", Trigger.at(Instant.ofEpochSecond(1)))
        schedule.put("c", Trigger.at(Instant.ofEpochSecond(1)), Priority.HIGH)
        pass(2.seconds)
        schedule.remove("b")
        schedule.pause("a")
        pass(1.minutes)
        assertEquals(listOf("c"), runs.map { it.key })
        schedule.resume("a")
        pass(1.minutes)
        assertEquals(listOf("c", "a"), runs.map { it.key })
        assertEquals(0, schedule.size)
    }

    @Test
    fun pause_untilResume_doesNotFire() = scheduleTest {
        val schedule = started()
        schedule.put("a", everyMinute)
        pass(90.seconds)
        assertTrue(schedule.pause("a"))
        assertNull(schedule.nextDue("a"))
        pass(10.minutes)
        assertTrue(schedule.resume("a"))
        assertTrue(schedule.resume("a"))
        assertEquals(Instant.ofEpochSecond(720), schedule.nextDue("a"))
        pass(30.seconds)
        assertEquals(listOf(60L, 720L), times)
        assertFalse(schedule.pause("b") || schedule.resume("b") || schedule.triggerNow("b"))
        assertNull(schedule.nextDue("b"))
    }

    @Test
    fun triggerNow_leavesTheGridAlone() = scheduleTest {
        val schedule = schedule()
        schedule.put("a", everyMinute)
        assertTrue(schedule.triggerNow("a"))
        start(schedule)
        pass(25.seconds)
        assertTrue(schedule.triggerNow("a"))
        assertEquals(Instant.ofEpochSecond(60), schedule.nextDue("a"))
        pass(35.seconds)
        assertEquals(listOf(0L, 25L, 60L), times)
        assertTrue(runs.all { it.missed == 0 && it.lag == 0.seconds })
        schedule.pause("a")
        schedule.triggerNow("a")
        pass(5.minutes)
        assertEquals(listOf(0L, 25L, 60L, 60L), times)
    }

    @Test
    fun triggerNow_whileItRuns_runsOnceMoreAfterwards() = scheduleTest {
        lateinit var schedule: Schedule<String>
        schedule = started {
            delay(5.seconds)
            if (runs.size == 1) repeat(3) { schedule.triggerNow("a") }
        }
        schedule.put("a", everyMinute)
        pass(100.seconds)
        assertEquals(listOf(60L, 65L), times)
        assertEquals(0, schedule.metrics.skipped)
    }
}
