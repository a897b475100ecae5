package baton.test.clock

import baton.BatonClock
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.Trigger
import baton.test.ManualClock
import baton.test.shouldHaveWaiters
import java.time.Duration
import java.time.Instant
import kotlin.time.Duration.Companion.INFINITE
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.launch
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout

/** The timer of a schedule, on a clock that another thread may advance at any moment. */
@Timeout(120)
class ScheduleTimersTest {
    private val manual = ManualClock()
    private val start = manual.instant()
    private val scope = CoroutineScope(Dispatchers.Unconfined + Job())
    private val runs = ArrayList<Instant>()

    /** The time moves between a reading of the clock and the timer that follows from it. */
    private inner class MovedClock(private val beforeEachTimer: () -> Unit) : BatonClock by manual {
        var timers = 0

        override fun schedule(delay: Duration, task: Runnable): AutoCloseable {
            timers++
            beforeEachTimer()
            return manual.schedule(delay, task)
        }
    }

    private fun started(clock: BatonClock): Schedule<String> {
        // No other timers: nothing is flushed or read anew.
        val config = ScheduleConfig(flushEvery = INFINITE, resyncEvery = INFINITE, clock = clock)
        val schedule = Schedule<String>(config = config) { runs += it.at }
        scope.launch { schedule.run() }
        return schedule
    }

    @AfterEach fun end() = scope.coroutineContext[Job]!!.cancel()

    @Test
    fun clock_advancedBetweenReadingAndTimer_firesAtTheDueTime() {
        val moves = ArrayDeque(listOf(59.minutes, 30.minutes))
        val schedule = started(MovedClock { moves.removeFirstOrNull()?.let(manual::advance) })
        schedule.put("a", Trigger.at(start.plusSeconds(7200)))
        assertEquals(start.plusSeconds(89 * 60), manual.instant())
        manual.advance(31.minutes - 1.milliseconds)
        assertEquals(emptyList<Instant>(), runs)
        manual.advance(1.milliseconds)
        assertEquals(listOf(start.plusSeconds(7200)), runs)
    }

    @Test
    fun clock_advancedBeyondTheDueTimeBeforeTheTimer_firesAtOnce() {
        var isMoved = false
        val schedule =
            started(
                MovedClock {
                    if (!isMoved) manual.advance(3.hours)
                    isMoved = true
                }
            )
        schedule.put("a", Trigger.at(start.plusSeconds(7200)))
        assertEquals(listOf(start.plusSeconds(7200)), runs)
    }

    @Test
    fun clock_thatMovesAtEachTimer_doesNotKeepTheLoopBusy() {
        val clock = MovedClock { manual.advance(1.milliseconds) }
        val schedule = started(clock)
        schedule.put("a", Trigger.at(start.plusSeconds(7200)))
        assertTrue(clock.timers in 2..20, "${clock.timers} timers")
        manual.advance(2.hours)
        assertEquals(listOf(start.plusSeconds(7200)), runs)
    }

    @Test
    fun scheduleWithNothingDue_setsNoTimer() {
        val schedule = started(manual)
        manual shouldHaveWaiters 0
        schedule.put("a", Trigger.at(start.plusSeconds(3600)))
        manual shouldHaveWaiters 1
        assertTrue(manual.advanceToNextTimer())
        assertEquals(listOf(start.plusSeconds(3600)), runs)
        assertFalse(manual.advanceToNextTimer())
        schedule.put("b", Trigger.at(start.plusSeconds(7200)))
        schedule.triggerNow("b")
        assertEquals(2, runs.size)
        assertTrue(manual.advanceToNextTimer())
        assertEquals(start.plusSeconds(7200), runs.last())
        assertEquals(start.plusSeconds(7200), manual.instant())
    }
}
