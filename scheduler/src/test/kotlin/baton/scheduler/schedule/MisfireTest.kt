package baton.scheduler.schedule

import baton.scheduler.Misfire
import baton.scheduler.Overlap
import baton.scheduler.Trigger
import java.time.Instant
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource
import org.junit.jupiter.params.provider.ValueSource

/** Due times that passed while the schedule did not run, and clocks that jump. */
class MisfireTest {
    /** The due times and how many more they stand for. */
    private val ScheduleWorld.made: List<Pair<Long, Int>>
        get() = runs.map { it.at.epochSecond to it.missed }

    @Test
    fun fireOnce_runBeginsLate_makesOneRun() = scheduleTest {
        val schedule = schedule()
        schedule.put("a", everyMinute)
        pass(10.minutes + 30.seconds)
        start(schedule)
        pass(30.seconds)
        assertEquals(listOf(60L to 9, 660L to 0), made)
        assertEquals(570.seconds, runs[0].lag)
        assertEquals(0, schedule.metrics.skipped)
    }

    @Test
    fun skip_runBeginsLate_makesNone() = scheduleTest {
        val schedule = schedule(config(Misfire.Skip))
        schedule.put("a", everyMinute)
        pass(10.minutes + 30.seconds)
        start(schedule)
        pass(30.seconds)
        assertEquals(listOf(660L to 0), made)
        assertEquals(10, schedule.metrics.skipped)
    }

    @ParameterizedTest
    @ValueSource(ints = [1, 3, 10, 11, Int.MAX_VALUE])
    fun catchUp_runBeginsLate_makesAtMostMaxRuns(max: Int) = scheduleTest {
        val schedule = schedule(config(Misfire.CatchUp(max)))
        schedule.put("a", everyMinute)
        pass(10.minutes + 30.seconds)
        start(schedule)
        pass(30.seconds)
        val runs = minOf(max, 10)
        val expected = List(runs) { 60L * (it + 1) to if (it == 0) 10 - runs else 0 }
        assertEquals(expected + (660L to 0), made)
    }

    @Test
    fun catchUp_runsOneAfterAnother_whateverTheOverlap() {
        for (overlap in Overlap.entries) scheduleTest {
            var running = 0
            var most = 0
            val config = config(Misfire.CatchUp(4), overlap)
            val schedule =
                schedule(config) {
                    most = maxOf(most, ++running)
                    delay(5.seconds)
                    running--
                }
            schedule.put("a", everyMinute)
            pass(10.minutes + 10.seconds)
            start(schedule)
            pass(40.seconds)
            assertEquals(listOf(60L to 6, 120L to 0, 180L to 0, 240L to 0), made)
            assertEquals(1, most)
        }
    }

    @Test
    fun catchUp_entryRemovedOrReplaced_endsWithTheRunThatGoesOn() = scheduleTest {
        val schedule = schedule(config(Misfire.CatchUp(8))) { delay(5.seconds) }
        for (key in listOf("removed", "paused", "replaced")) schedule.put(key, everyMinute)
        pass(10.minutes + 1.seconds)
        start(schedule)
        pass(7.seconds)
        schedule.remove("removed")
        schedule.pause("paused")
        schedule.put("replaced", Trigger.every(1.hours, Instant.EPOCH))
        pass(1.minutes)
        assertEquals(List(3) { 2 }, listOf("removed", "paused", "replaced").map { timesOf(it).size })
    }

    @ParameterizedTest
    @ValueSource(longs = [1, 59])
    fun lag_shorterThanThePeriod_isNoMisfire(seconds: Long) {
        for (misfire in listOf(Misfire.FireOnce, Misfire.Skip, Misfire.CatchUp(5))) scheduleTest {
            val schedule = schedule(config(misfire))
            schedule.put("a", everyMinute)
            schedule.put("b", Trigger.fixedDelay(1.minutes))
            schedule.put("c", Trigger { after -> after.plusSeconds(60) })
            pass(1.minutes + seconds.seconds)
            start(schedule)
            pass(0.seconds)
            assertEquals(List(3) { 60L to 0 }, made)
            assertTrue(runs.all { it.lag == seconds.seconds })
        }
    }

    @Test
    fun customTrigger_missed_isCountedByItsTimes() = scheduleTest {
        val once = schedule()
        once.put("once", Trigger { after -> after.plusSeconds(60) })
        val skip = schedule(config(Misfire.Skip))
        skip.put("skip", Trigger { after -> after.plusSeconds(60) })
        val catchUp = schedule(config(Misfire.CatchUp(3)))
        catchUp.put("catch up", Trigger { after -> after.plusSeconds(60) })
        pass(10.minutes + 30.seconds)
        for (schedule in listOf(once, skip, catchUp)) start(schedule)
        pass(30.seconds)
        assertEquals(listOf(60L, 660L), timesOf("once"))
        assertEquals(listOf(660L), timesOf("skip"))
        assertEquals(listOf(60L, 120L, 180L, 660L), timesOf("catch up"))
        assertEquals(listOf(9, 7), runs.filter { it.missed > 0 }.map { it.missed })
    }

    @Test
    fun customTrigger_manyMissed_isCalledABoundedNumberOfTimes() = scheduleTest {
        var calls = 0
        val schedule = started()
        schedule.put("a", Trigger { after -> after.plusSeconds(1).also { calls++ } })
        pass(500.milliseconds)
        jump(3650.days)
        pass(1.minutes)
        assertEquals(1L to 100, made[0])
        assertTrue(calls < 300)
        assertTrue(runs.size in 59..62, "${runs.size}")
    }

    @Test
    fun at_pastUnderSkip_neverFires() = scheduleTest {
        val schedule = schedule(config(Misfire.Skip))
        schedule.put("before", Trigger.at(Instant.ofEpochSecond(5)))
        pass(6.seconds)
        start(schedule)
        schedule.put("past", Trigger.at(Instant.ofEpochSecond(5)))
        schedule.put("now", Trigger.at(Instant.ofEpochSecond(6)))
        schedule.put("soon", Trigger.at(Instant.ofEpochMilli(6001)))
        pass(1.minutes)
        assertEquals(listOf("now", "soon"), runs.map { it.key })
        assertEquals(2, schedule.metrics.skipped)
        assertEquals(0, schedule.size)
    }

    @Test
    fun fixedDelay_late_isAMisfireOfOne() {
        for (misfire in listOf(Misfire.FireOnce, Misfire.Skip, Misfire.CatchUp(5))) scheduleTest {
            val schedule = schedule(config(misfire))
            schedule.put("a", Trigger.fixedDelay(1.minutes))
            pass(10.minutes)
            start(schedule)
            pass(1.minutes)
            val expected = if (misfire == Misfire.Skip) listOf(660L to 0) else listOf(60L to 0, 660L to 0)
            assertEquals(expected, made)
        }
    }

    @Test
    fun skip_periodShorterThanTheResolution_firesOncePerWakeUp() = scheduleTest {
        val schedule = started(config(Misfire.Skip, resolution = 100.milliseconds))
        schedule.put("a", Trigger.every(10.milliseconds, Instant.EPOCH))
        pass(1.seconds)
        assertEquals(10, runs.size)
        assertEquals(90, schedule.metrics.skipped)
    }

    @Test
    fun clock_jumpsAhead_firesOnceAndGoesOnAtTheGrid() {
        for (jump in listOf(1.hours, 3650.days)) scheduleTest {
            val schedule = started()
            schedule.put("a", everyMinute)
            schedule.put("b", Trigger.fixedDelay(1.minutes))
            schedule.put("c", Trigger.at(Instant.ofEpochSecond(1800)))
            pass(90.seconds)
            jump(jump)
            pass(1.minutes)
            val missed = jump.inWholeMinutes.toInt()
            assertEquals(
                listOf(60L to 0, 120L to missed),
                runs.filter { it.key == "a" }.map { it.at.epochSecond to it.missed },
            )
            assertEquals(60L, timesOf("b")[0])
            assertEquals(listOf(1800L), timesOf("c"))
            val before = runs.size
            pass(10.minutes)
            assertEquals(20, runs.size - before, "at the usual rate from there")
        }
    }

    @Test
    fun clock_jumpsAheadByMoreMissesThanAnInt_isCapped() = scheduleTest {
        val schedule = started()
        schedule.put("a", Trigger.every(1.milliseconds, Instant.EPOCH))
        pass(5.milliseconds)
        jump(3650.days)
        pass(10.milliseconds)
        assertEquals(Int.MAX_VALUE, runs.maxOf { it.missed })
        assertTrue(runs.size <= 3)
    }

    @Test
    fun clock_isSetBack_nothingIsEarlyAndTheNewGridHolds() {
        for (jump in listOf(1.hours, 3650.days)) scheduleTest {
            jump(3650.days * 2)
            val schedule = started()
            schedule.put("a", everyMinute)
            schedule.put("b", Trigger.fixedDelay(1.minutes))
            schedule.put("c", Trigger { after -> after.plusSeconds(60) })
            val at = instant().plusSeconds(600)
            schedule.put("d", Trigger.at(at))
            pass(90.seconds)
            val before = runs.size
            jump(-jump)
            pass(30.seconds)
            assertTrue(runs.size <= before + 1, "a burst")
            pass(30.seconds)
            val gridded = schedule.nextDue("a")!!
            assertTrue(gridded > instant() && gridded <= instant().plusSeconds(60))
            val since = runs.size
            pass(10.minutes)
            for (key in listOf("a", "b", "c")) {
                val fired = runs.drop(since).filter { it.key == key }
                assertEquals(10, fired.size, key)
                assertTrue(fired.all { !it.lag.isNegative() && it.missed == 0 && it.lag < 1.seconds })
            }
            assertEquals(at, schedule.nextDue("d"))
        }
    }

    @Test
    fun clock_isSetBackALittle_firesNothingTwice() = scheduleTest {
        val schedule = started()
        schedule.put("a", everyMinute)
        pass(1.minutes)
        jump(-(500.milliseconds))
        pass(10.minutes)
        assertEquals((1..10L).map { 60 * it }, times)
        assertNull(schedule.nextDue("b"))
    }

    @ParameterizedTest
    @CsvSource("SKIP, 99", "QUEUE_ONE, 98")
    fun skip_whileTheLastRunGoesOn_countsEachDueTimeOnce(overlap: Overlap, skipped: Long) = scheduleTest {
        val schedule = started(config(Misfire.Skip, overlap, resolution = 100.milliseconds)) { delay(1.hours) }
        schedule.put("a", Trigger.every(10.milliseconds, Instant.EPOCH))
        pass(1.seconds)
        assertEquals(1, runs.size)
        assertEquals(skipped, schedule.metrics.skipped)
    }

    @Test
    fun at_afterTheClockWasSetBack_isPunctualUnderSkip() {
        for (back in listOf(500.milliseconds, 365.days)) scheduleTest {
            jump(3650.days)
            val schedule = started(config(Misfire.Skip))
            pass(1.milliseconds)
            jump(-back)
            schedule.put("a", Trigger.at(instant().plusMillis(100)))
            pass(1.seconds)
            assertEquals(listOf("a"), runs.map { it.key })
        }
    }

    @Test
    fun clock_jumpsAheadAndBackWhileTheLoopSleeps_entryPutMeanwhileFires() = scheduleTest {
        val schedule = started()
        pass(1.seconds)
        jump(365.days)
        schedule.put("a", Trigger.every(10.minutes, Instant.EPOCH))
        jump(-365.days)
        pass(12.minutes)
        assertEquals(listOf(600L), times)
    }
}
