package baton.scheduler.schedule

import baton.BatonClock
import baton.Priority
import baton.clock
import baton.scheduler.PausedBy
import baton.scheduler.RunOutcome
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.Trigger
import java.io.IOException
import java.time.Instant
import kotlin.time.Duration
import kotlin.time.Duration.Companion.ZERO
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Job
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Ends of a run between its attempts, and entries whose run has failed for good. */
internal class RunRetryEndTest : RunRetryFixture() {
    @Test
    fun cancelRun_betweenAttempts_endsTheRunAtOnce_andARunningAttemptIsNotRepeated() = scheduleTest {
        val schedule =
            started(retrying(policy(wait = 60.seconds))) {
                if (it.key == "waits") throw IOException() else awaitCancellation()
            }
        schedule.put("waits", Trigger.fixedDelay(10.seconds))
        schedule.put("runs", at10)
        pass(12.seconds)
        assertEquals(1, schedule.cancelRun("waits"))
        assertEquals(Instant.ofEpochSecond(22), schedule.nextDue("waits"))
        assertEquals(1, schedule.cancelRun("runs"))
        pass(ZERO)
        assertEquals(listOf(2L, 0L, 0L, 2L, 1L, 0L), schedule.counts())
        schedule.remove("waits")
        pass(10.minutes)
        assertEquals(2, runs.size)
        assertEquals(0, failures.size)
    }

    @Test
    fun edit_betweenAttempts_dropsTheRun() = scheduleTest {
        val edits: Map<String, Schedule<String>.(String) -> Unit> =
            mapOf("removed" to { remove(it) }, "paused" to { pause(it) })
        val schedule = started(retrying(policy(wait = 5.seconds))) { throw IOException() }
        for (key in edits.keys) schedule.put(key, every10)
        pass(12.seconds)
        for ((key, edit) in edits) schedule.edit(key)
        pass(30.seconds)
        assertEquals(2, runs.size)
        assertEquals(0, failures.size)
        assertEquals(listOf(2L, 0L, 0L, 0L, 2L, 0L), schedule.counts())
        schedule.resume("paused")
        pass(10.seconds)
        assertEquals(3, runs.size)
    }

    @Test
    fun end_betweenAttempts_leavesTheRunDue_andTheNextStartBeginsWithTheFirstAttempt() = scheduleTest {
        val store = FaultyStore()
        val first = started(retrying(policy(attempts = 2, wait = 60.seconds)), store) { throw IOException() }
        first.put("a", at10)
        pass(12.seconds)
        first.shutdown()
        assertEquals(0, failures.size)
        started(retrying(policy(attempts = 2)), store) { throw IOException() }
        pass(10.minutes)
        assertEquals(listOf(10L, 10L, 10L), times)
        assertEquals(1, failures.size)
    }

    @Test
    fun oneTimeEntry_thatFailsForGood_isListed_untilItIsRemovedPutOrRunsWell() = scheduleTest {
        var isDown = true
        val schedule = started(retrying(policy(attempts = 2))) { if (isDown) throw IOException() }
        for (key in listOf("removed", "put", "resumed", "triggered")) schedule.put(key, at10)
        pass(20.seconds)
        for (entry in schedule.entries()) {
            assertEquals(PausedBy.FAILED_RUN to RunOutcome.FAILED, entry.pausedBy to entry.lastOutcome)
            assertEquals(13L to null, entry.lastRun?.epochSecond to entry.nextDue)
        }
        assertEquals(4, schedule.size)
        assertEquals(emptyList<String>(), schedule.failedTriggers())
        runs.clear()
        isDown = false
        schedule.remove("removed")
        schedule.put("put", Trigger.at(Instant.ofEpochSecond(50)))
        schedule.resume("resumed")
        schedule.triggerNow("triggered")
        pass(ZERO)
        assertEquals(setOf("resumed", "triggered"), runs.map { it.key }.toSet())
        assertEquals(listOf("put"), schedule.entries().map { it.key })
        pass(60.seconds)
        assertEquals(0, schedule.size)
    }

    @Test
    fun oneTimeEntry_whoseOnlyRunTimesOut_isListed_andOneThatIsCancelledIsGone() = scheduleTest {
        val schedule = started(retrying(null, runTimeout = 3.seconds)) { awaitCancellation() }
        schedule.put("late", at10)
        schedule.put("cancelled", at10)
        pass(11.seconds)
        schedule.cancelRun("cancelled")
        pass(10.seconds)
        val entry = schedule.entries().single()
        assertEquals("late FAILED_RUN TIMED_OUT", "${entry.key} ${entry.pausedBy} ${entry.lastOutcome}")
        assertNull(schedule.nextDue("late"))
        schedule.triggerNow("late")
        pass(10.seconds)
        assertEquals(PausedBy.FAILED_RUN, schedule.entries().single().pausedBy, "it has failed once more")
    }

    /** The threads of the timer and of the hand-over may go on when another thread has begun the next attempt. */
    @Test
    fun lateSteps_ofAnAttempt_leaveTheNextOneAlone() = scheduleTest {
        val table = EntryTable<String>(resolution = 1)
        val core = ScheduleCore(config(), table, "test")
        val fires = FireCore(config(), table)
        core.put("a", at10, Priority.NORMAL)
        pass(10.seconds)
        val now = core.now()
        assertTrue(fires.peek(now))
        val firing = checkNotNull(fires.fire(now) { _, failure -> throw failure })
        val (first, second) = List(2) { Job() }
        firing.attempt = 1
        assertNotNull(fires.begin(firing, now, first))
        val late = fires.timeOut(firing, attempt = 1)
        assertSame(first, late)
        // So a thread that cancels the run finds that it waits, or comes before, and no attempt follows.
        assertTrue(fires.giveBack(firing, now) { assertTrue(Thread.holdsLock(table.lock)) })
        assertFalse(fires.startsInterrupted(firing, attempt = 1, first))
        assertNull(firing.job)
        firing.attempt = 2
        assertFalse(fires.startsInterrupted(firing, attempt = 1, first))
        assertNotNull(fires.begin(firing, now, second))
        assertFalse(fires.startsInterrupted(firing, attempt = 1, first))
        assertNull(fires.timeOut(firing, attempt = 1))
        assertSame(second, firing.job)
        assertSame(second, fires.timeOut(firing, attempt = 2))
    }

    @Test
    fun cancelRun_whileTheTimerOfTheNextAttemptIsSet_endsTheRun_andTheTimer() = scheduleTest { scope ->
        lateinit var schedule: Schedule<String>
        val config = retrying(policy(wait = 77.seconds))
        val clock = scope.clock
        var cancelled = 0
        var timers = 0
        val cancelling =
            object : BatonClock by clock {
                override fun schedule(delay: java.time.Duration, task: Runnable): AutoCloseable {
                    val timer = clock.schedule(delay, task)
                    // The others are those of the schedule.
                    if (delay.toSeconds() != 77L) return timer
                    cancelled += schedule.cancelRun("a")
                    timers++
                    return AutoCloseable {
                        timers--
                        timer.close()
                    }
                }
            }
        schedule =
            started(ScheduleConfig(onFailure = config.onFailure, clock = cancelling, retry = config.retry)) {
                throw IOException()
            }
        schedule.put("a", at10)
        pass(12.seconds)
        assertEquals(listOf(1L, 0L, 0L, 1L, 1L, 0L), schedule.counts())
        assertEquals(1, cancelled)
        assertEquals(0, timers)
        assertEquals(0, schedule.size)
    }
}
