package baton.scheduler.schedule

import baton.Priority
import baton.scheduler.Due
import baton.scheduler.Overlap
import baton.scheduler.Trigger
import baton.sync.assertContains
import java.time.Instant
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.microseconds
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.delay
import kotlinx.coroutines.test.currentTime
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Triggers and runs, in virtual time. */
class ScheduleTest {
    @Test
    fun every_anchored_firesOnTheGrid() = scheduleTest {
        val schedule = started()
        pass(30.seconds)
        schedule.put("a", everyMinute)
        assertEquals(Instant.ofEpochSecond(60), schedule.nextDue("a"))
        pass(150.seconds)
        assertEquals(listOf(60L, 120L, 180L), times)
        assertEquals(Instant.ofEpochSecond(240), schedule.nextDue("a"))
        assertTrue(runs.all { it.lag == 0.seconds && it.missed == 0 && it.priority == Priority.NORMAL })
    }

    @Test
    fun every_lateRuns_doNotDrift() = scheduleTest {
        val schedule = started { delay(7.seconds) }
        schedule.put("a", Trigger.every(333_333_333.nanoseconds, Instant.EPOCH))
        pass(1.hours)
        val due = schedule.nextDue("a")!!
        val number = 1 + (3_600_000_000_000 / 333_333_333)
        assertEquals((number * 333_333_333 + 999) / 1000, due.epochSecond * 1_000_000 + due.nano / 1000)
    }

    @Test
    fun every_withoutAnchor_spreadsKeysAndKeepsTheirPhase() = scheduleTest {
        val schedule = started()
        val keys = List(1000) { "key $it" }
        for (key in keys) schedule.put(key, Trigger.every(2.minutes))
        val phases = keys.map { schedule.nextDue(it)!!.toEpochMilli() % 120_000 }
        for (tenth in 0 until 10) assertTrue(phases.count { it / 12_000 == tenth.toLong() } in 60..140)
        pass(7.minutes)
        assertEquals(phases, keys.map { schedule.nextDue(it)!!.toEpochMilli() % 120_000 })
        assertTrue(runs.size in 3000..4000)
    }

    @Test
    fun fixedDelay_countsFromTheEndOfTheRun() = scheduleTest {
        val schedule = started { delay(5.seconds) }
        schedule.put("a", Trigger.fixedDelay(30.seconds))
        pass(32.seconds)
        assertNull(schedule.nextDue("a"))
        pass(68.seconds)
        assertEquals(listOf(30L, 65L, 100L), times)
        assertEquals(0, schedule.metrics.skipped)
    }

    @Test
    fun at_firesOnceAndIsGone() = scheduleTest {
        val schedule = started()
        val at = Instant.ofEpochSecond(5, 123_456_789)
        schedule.put("a", Trigger.at(at), Priority.HIGH)
        assertEquals(at, schedule.nextDue("a"))
        pass(1.minutes)
        assertEquals(listOf(at to Priority.HIGH), runs.map { it.at to it.priority })
        assertTrue(runs.single().lag in 0.seconds..10.milliseconds)
        assertEquals(0, schedule.size)
        assertFalse(schedule.remove("a"))
    }

    @Test
    fun at_past_firesAtOnce() = scheduleTest {
        val schedule = started()
        pass(1.hours)
        schedule.put("a", Trigger.at(Instant.ofEpochSecond(5)))
        pass(0.seconds)
        assertEquals(listOf(5L), times)
        assertEquals(1.hours - 5.seconds, runs.single().lag)
        assertEquals(0, runs.single().missed)
    }

    @Test
    fun customTrigger_null_removesTheEntry() = scheduleTest {
        val schedule = started()
        schedule.put("a", { after -> after.plusSeconds(10).takeIf { it.epochSecond <= 30 } })
        schedule.put("never", { null })
        assertEquals(1, schedule.size)
        pass(1.minutes)
        assertEquals(listOf(10L, 20L, 30L), times)
        assertEquals(0, schedule.size)
    }

    @Test
    fun customTrigger_timeThatIsPast_countsAsNow() = scheduleTest {
        val schedule = started()
        pass(1.minutes)
        schedule.put("a", { Instant.ofEpochSecond(1) })
        assertEquals(Instant.ofEpochSecond(60), schedule.nextDue("a"))
        pass(100.milliseconds)
        assertTrue(runs.size in 10..12, "${runs.size}")
        assertTrue(runs.all { it.missed == 0 && it.at >= Instant.ofEpochSecond(60) })
    }

    @Test
    fun customTrigger_throws_stopsTheEntry_whichIsListed() = scheduleTest {
        val schedule = started()
        var isBroken = true
        schedule.put("a", { after -> if (after.epochSecond >= 60) error("broken") else after.plusSeconds(60) })
        schedule.put("b", { if (isBroken) error("from the start") else it.plusSeconds(7) })
        assertEquals(listOf<Any>("b" to "from the start"), failures.map { it.first to it.second.message })
        pass(10.minutes)
        assertEquals(listOf(60L), times)
        assertEquals(
            listOf<Any>("b" to "from the start", "a" to "broken"),
            failures.map { it.first to it.second.message },
        )
        assertEquals(2, schedule.size)
        assertNull(schedule.nextDue("a"))
        schedule.put("c", everyMinute)
        schedule.pause("c")
        assertEquals(setOf("a", "b"), schedule.failedTriggers().toSet())
        isBroken = false
        assertTrue(schedule.resume("b"))
        assertEquals(listOf("a"), schedule.failedTriggers())
        pass(10.seconds)
        assertEquals(listOf(60L, 607L), times)
        schedule.pause("a")
        assertEquals(listOf<String>(), schedule.failedTriggers(), "a pause of the user")
        schedule.resume("a")
        assertEquals(listOf("a"), schedule.failedTriggers())
        schedule.remove("a")
        assertEquals(listOf<String>(), schedule.failedTriggers())
    }

    @Test
    fun action_thatThrows_isCountedAndTheEntryStays() = scheduleTest {
        val schedule = started {
            if (runs.size == 1) throw AssertionError("first")
            if (runs.size == 2) throw CancellationException("of something else")
            error("third")
        }
        schedule.put("a", everyMinute)
        pass(4.minutes)
        assertEquals(4, runs.size)
        assertEquals(listOf("first", "of something else", "third", "third"), failures.map { it.second.message })
        assertTrue(failures.all { it.first == "a" })
        assertEquals(listOf(4L, 4L, 0L), schedule.metrics.run { listOf(fired, failed, running.toLong()) })
    }

    @Test
    fun fixedDelay_actionThrows_countsFromThere() = scheduleTest {
        val schedule = started {
            delay(2.seconds)
            error("fails")
        }
        schedule.put("a", Trigger.fixedDelay(10.seconds))
        pass(30.seconds)
        assertEquals(listOf(10L, 22L), times)
    }

    @Test
    fun overlap_skip_countsWhatIsSkipped() = scheduleTest {
        val schedule = started { delay(150.seconds) }
        schedule.put("a", everyMinute)
        pass(10.minutes)
        assertEquals(listOf(60L, 240L, 420L, 600L), times)
        assertEquals(6, schedule.metrics.skipped)
    }

    @Test
    fun overlap_queueOne_runsAtTheEndOfTheLast() = scheduleTest {
        val starts = ArrayList<Long>()
        val schedule =
            started(config(overlap = Overlap.QUEUE_ONE)) {
                starts += it.at.plusMillis(it.lag.inWholeMilliseconds).epochSecond
                delay(145.seconds)
            }
        schedule.put("a", everyMinute)
        pass(9.minutes)
        assertEquals(listOf(60L, 205L, 350L, 495L), starts)
        assertEquals(listOf(60L, 120L, 240L, 360L), times)
        // 180, 300, 420 and 480; the run for 540 waits.
        assertEquals(4, schedule.metrics.skipped)
    }

    @Test
    fun overlap_allow_runsAtTheSameTime() = scheduleTest {
        val schedule = started(config(overlap = Overlap.ALLOW)) { delay(150.seconds) }
        schedule.put("a", everyMinute)
        pass(200.seconds)
        assertEquals(listOf(60L, 120L, 180L), times)
        assertEquals(3, schedule.metrics.running)
        schedule.put("b", Trigger.fixedDelay(1.seconds))
        schedule.triggerNow("b")
        schedule.triggerNow("b")
        pass(2.seconds)
        assertEquals(2, timesOf("b").size)
    }

    @Test
    fun maxConcurrency_boundsActions_mostUrgentFirst() = scheduleTest {
        var running = 0
        var most = 0
        val schedule =
            started(maxConcurrency = 2) {
                most = maxOf(most, ++running)
                delay(1.seconds)
                running--
            }
        for (priority in Priority.entries.reversed()) repeat(2) { schedule.put("$priority $it", everyMinute, priority) }
        pass(130.seconds)
        assertEquals(2, most)
        assertEquals(Priority.entries.flatMap { listOf("$it 0", "$it 1") }, runs.take(10).map { it.key })
        assertEquals(4.seconds, runs[9].lag)
        assertTrue(schedule.metrics.lagP99 in 4.seconds..4.3.seconds)
        assertTrue(schedule.metrics.lagP50 in 2.seconds..2.2.seconds)
    }

    @Test
    fun resolution_roundsTheWakeUp_notTheDueTime() = scheduleTest { scope ->
        val starts = ArrayList<Long>()
        val schedule = started(config(resolution = 100.milliseconds)) { starts += scope.currentTime }
        schedule.put("a", Trigger.at(Instant.ofEpochMilli(1001)))
        schedule.put("b", Trigger.at(Instant.ofEpochMilli(1100)))
        schedule.put("c", Trigger.at(Instant.ofEpochMilli(1101)))
        pass(2.seconds)
        assertEquals(listOf(1100L, 1100L, 1200L), starts)
        assertEquals(listOf(99, 0, 99), runs.map { it.lag.inWholeMilliseconds.toInt() })
        assertEquals(listOf(1001L, 1100L, 1101L), runs.map { it.at.toEpochMilli() })
    }

    @Test
    fun entries_dueAtOnce_fireByPriorityThenInTheOrderOfPut() = scheduleTest {
        val schedule = started(maxConcurrency = 1)
        for (key in listOf("a", "b", "c")) schedule.put(key, everyMinute)
        schedule.put("d", everyMinute, Priority.HIGH)
        schedule.put("a", everyMinute)
        pass(1.minutes)
        assertEquals(listOf("d", "b", "c", "a"), runs.map { it.key })
    }

    @Test
    fun actions_thatNeverSuspend_doNotHoldUpTheLoop() = scheduleTest {
        val gate = CompletableDeferred<Unit>()
        val schedule = started { gate.await() }
        schedule.put("a", everyMinute)
        schedule.put("b", everyMinute)
        pass(1.minutes)
        assertEquals(2, schedule.metrics.running)
        gate.complete(Unit)
        pass(1.minutes)
        assertEquals(4, schedule.metrics.fired)
    }

    @Test
    fun toString_showsNameAndState() = scheduleTest {
        val schedule = started { delay(5.seconds) }
        schedule.put("a", Trigger.at(Instant.ofEpochSecond(1)))
        pass(2.seconds)
        assertEquals("Schedule 'test' (size = 1, running = 1 of 200, dirty = 1)", "$schedule")
        assertContains("${schedule.metrics}", "fired = 1", "running = 1", "lag p99 = 0s")
        assertContains("${schedule.config}", "FireOnce", "SKIP", "resolution = 10ms")
        val due = Due("k", Instant.EPOCH, 5.microseconds, Priority.LOW, 3)
        assertEquals("Due (key = k, at = 1970-01-01T00:00:00Z, lag = 5us, priority = LOW, missed = 3)", "$due")
    }
}
