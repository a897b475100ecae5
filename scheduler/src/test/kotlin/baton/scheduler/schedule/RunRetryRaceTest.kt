package baton.scheduler.schedule

import baton.BatonClock
import baton.Priority
import baton.clock
import baton.scheduler.Misfire
import baton.scheduler.PausedBy
import baton.scheduler.RunOutcome
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.Trigger
import java.io.IOException
import java.time.Instant
import java.util.concurrent.Executor
import kotlin.time.Duration.Companion.ZERO
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TimeSource
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Timeouts, cancellations, edits and the end of the schedule that meet the attempts of a run. */
internal class RunRetryRaceTest : RunRetryFixture() {
    private val store = FaultyStore()

    /** Its time was over, and the call found no run: the attempt ended, and another one followed. */
    @Test
    fun cancelRun_whileATimedOutAttemptCleansUp_endsTheRun_andNoAttemptFollows() = scheduleTest {
        val schedule =
            started(retrying(policy(), runTimeout = 3.seconds)) { withContext(NonCancellable) { delay(8.seconds) } }
        schedule.put("a", at10)
        pass(15.seconds)
        assertEquals(1, schedule.cancelRun("a"))
        assertEquals(0, schedule.cancelRun("a"), "a second call finds none")
        pass(1.minutes)
        assertEquals(listOf(1L, 0L, 0L, 1L, 0L, 0L), schedule.counts())
        assertEquals(0L, schedule.metrics.timedOut)
        assertEquals(0, failures.size)
        assertEquals(0, schedule.size)
    }

    @Test
    fun cancelRun_whileATimedOutRunCleansUp_reportsTheFailureOfItsCleanUpAlone() = scheduleTest {
        val schedule =
            started(retrying(null, runTimeout = 3.seconds)) {
                withContext(NonCancellable) { delay(8.seconds) }
                throw IOException("clean up")
            }
        schedule.put("a", every10)
        pass(15.seconds)
        assertEquals(1, schedule.cancelRun("a"))
        pass(4.seconds)
        assertEquals(listOf(1L, 0L, 0L, 1L, 0L, 0L), schedule.counts())
        assertEquals(RunOutcome.CANCELLED, schedule.entries().single().lastOutcome)
        assertEquals(listOf("clean up"), failures.map { it.second.message })
    }

    @Test
    fun cancelRun_whileThePolicyDecidesAboutATimeout_reportsNoTimeout() = scheduleTest {
        lateinit var cancel: () -> Int
        val schedule =
            started(retrying(policy(retryIf = { cancel() == 1 }), runTimeout = 3.seconds)) { awaitCancellation() }
        cancel = { schedule.cancelRun("a") }
        schedule.put("a", at10)
        pass(1.minutes)
        assertEquals(listOf(1L, 0L, 0L, 1L, 0L, 0L), schedule.counts())
        assertEquals(0, failures.size)
    }

    /** The schedule ends while "waits" waits for another attempt; another run delays the end by 8 s. */
    private fun ScheduleWorld.endingBetweenAttempts(scope: CoroutineScope, config: ScheduleConfig): Schedule<String> {
        val schedule = started(config, store) { if (it.key == "waits") throw IOException() else delay(8.seconds) }
        schedule.put("waits", at10)
        schedule.put("runs", at10)
        pass(12.seconds)
        scope.launch { schedule.shutdown() }
        pass(1.seconds)
        return schedule
    }

    private fun ScheduleWorld.assertDueAtTheNextStart(times: List<Long>) {
        pass(10.seconds)
        assertEquals(listOf(10L), timesOf("waits"))
        assertEquals(0, failures.size)
        started(config(), store)
        pass(10.minutes)
        assertEquals(listOf(10L) + times, timesOf("waits"))
    }

    /** The call returned 1, and the run was due again at the next start. */
    @Test
    fun cancelRun_betweenAttempts_whileTheScheduleEnds_isNotRepeatedAtTheNextStart() = scheduleTest { scope ->
        val schedule = endingBetweenAttempts(scope.backgroundScope, retrying(policy(wait = 60.seconds)))
        assertEquals(1, schedule.cancelRun("waits"))
        assertEquals(0, schedule.cancelRun("waits"))
        assertEquals(1L, schedule.metrics.cancelled)
        assertDueAtTheNextStart(emptyList())
    }

    @Test
    fun attempt_thatIsDueWhileTheScheduleEnds_doesNotBegin_andItsRunIsDueAtTheNextStart() = scheduleTest { scope ->
        endingBetweenAttempts(scope.backgroundScope, retrying(policy(wait = 5.seconds)))
        assertDueAtTheNextStart(listOf(10L))
    }

    /** The thread of the timer comes late, when the end of the attempt is decided: no retry followed on that. */
    @Test
    fun timeOut_afterTheActionHasReturned_leavesTheOutcomeOfTheAction() = scheduleTest {
        val table = EntryTable<String>(resolution = 1)
        val core = ScheduleCore(config(), table, "test")
        val fires = FireCore(config(), table)
        core.put("a", at10, Priority.NORMAL)
        pass(10.seconds)
        assertTrue(fires.peek(core.now()))
        val firing = checkNotNull(fires.fire(core.now()) { _, failure -> throw failure })
        firing.attempt = 1
        assertNotNull(fires.begin(firing, core.now(), Job()))
        fires.timeOut(firing, attempt = 1)
        assertNull(fires.end(firing, RunOutcome.SUCCEEDED, core.now()))
        assertEquals(RunOutcome.SUCCEEDED, firing.outcome)
    }

    /** The first timer was noted in place of the second one, which then could not be ended. */
    @Test
    fun timer_thatPassesWhileItIsSet_isNotTakenForThatOfTheNextAttempt() = scheduleTest { scope ->
        val config = retrying(policy(wait = 77.seconds))
        val clock = scope.clock
        var timers = 0
        val hasty =
            object : BatonClock by clock {
                override fun schedule(delay: java.time.Duration, task: Runnable): AutoCloseable {
                    if (delay.toSeconds() != 77L) return clock.schedule(delay, task)
                    if (runs.size == 1) {
                        task.run()
                        pass(ZERO)
                    }
                    val timer = clock.schedule(delay, task)
                    timers++
                    return AutoCloseable {
                        timers--
                        timer.close()
                    }
                }
            }
        val schedule =
            started(ScheduleConfig(onFailure = config.onFailure, clock = hasty, retry = config.retry)) {
                throw IOException()
            }
        schedule.put("a", at10)
        pass(12.seconds)
        assertEquals(2 to 1, runs.size to timers)
        assertEquals(1, schedule.cancelRun("a"))
        assertEquals(0, schedule.size)
        assertEquals(0, timers)
    }

    /** At the second attempt one that threw was taken for a failure of the action. */
    @Test
    fun timeoutAndPolicy_areAskedForOnceInEachRun() = scheduleTest {
        val asked = ArrayList<Any>()
        val config =
            config().let {
                ScheduleConfig(
                    onFailure = it.onFailure,
                    clock = it.clock,
                    runTimeout = { key ->
                        asked += "timeout of $key"
                        5.seconds
                    },
                    retry = { key ->
                        asked += "retry of $key"
                        policy()
                    },
                )
            }
        val schedule = started(config) { if (runs.size < 3) throw IOException() else awaitCancellation() }
        schedule.put("a", at10)
        pass(30.seconds)
        assertEquals(listOf("timeout of a", "retry of a"), asked)
        assertEquals(1L, schedule.metrics.timedOut)
    }

    @Test
    fun clockThatJumps_doesNotMoveTheTimeoutOfARun() = scheduleTest {
        val schedule = started(retrying(null, runTimeout = 5.seconds)) { delay(4.seconds) }
        schedule.put("a", at10)
        pass(11.seconds)
        jump(1.hours)
        pass(4.seconds)
        assertEquals(listOf(1L, 1L, 0L, 0L, 0L, 0L), schedule.counts())
        // The schedule looks at the clock once a minute.
        pass(1.minutes)
        schedule.put("b", Trigger.at(instant().plusSeconds(10)))
        pass(11.seconds)
        jump((-2).hours)
        pass(4.seconds)
        assertEquals(listOf(2L, 2L, 0L, 0L, 0L, 0L), schedule.counts())
    }

    @Test
    fun oneTimeEntry_putAnewWhileItsRunWaitsForAnAttempt_isDueThen_whateverBecomesOfThatRun() = scheduleTest {
        val schedule = started(retrying(policy())) { if (it.at.epochSecond == 10L) throw IOException() }
        schedule.put("a", at10)
        pass(12.seconds)
        schedule.put("a", Trigger.at(Instant.ofEpochSecond(50)))
        pass(10.seconds)
        val entry = schedule.entries().single()
        assertEquals(null to RunOutcome.FAILED, entry.pausedBy to entry.lastOutcome)
        assertEquals(Instant.ofEpochSecond(50), entry.nextDue)
        pass(30.seconds)
        assertEquals(listOf(10L, 10L, 10L, 50L), times)
        assertEquals(0, schedule.size)
    }

    /** The entry was gone without a run. */
    @Test
    fun resume_ofAOneTimeEntryThatFailed_runsIt_alsoWhereMissedTimesAreSkipped() = scheduleTest {
        val schedule = started(config(misfire = Misfire.Skip)) { if (runs.size < 2) throw IOException() }
        for (wait in listOf(1.seconds, 10.minutes)) {
            runs.clear()
            schedule.put("a", Trigger.at(instant().plusSeconds(10)))
            pass(10.seconds)
            assertEquals(PausedBy.FAILED_RUN, schedule.entries().single().pausedBy)
            pass(wait)
            schedule.resume("a")
            pass(ZERO)
            assertEquals(2, runs.size)
            assertEquals(0, schedule.size)
        }
        assertEquals(0L, schedule.metrics.skipped)
    }

    /** Each attempt begins on the stack of the one before, or on that of the timer. */
    @Test
    fun manyAttempts_withoutAWait_onAnExecutorThatRunsInPlace_endTheRun() {
        val attempts = 3_000
        val config = ScheduleConfig(grace = ZERO, onFailure = { _, _ -> }, retry = { policy(attempts, wait = ZERO) })
        val schedule = Schedule<String>(config = config) { throw IOException() }
        val running = CoroutineScope(Executor { it.run() }.asCoroutineDispatcher()).launch { schedule.run() }
        schedule.put("a", Trigger.at(Instant.EPOCH))
        val start = TimeSource.Monotonic.markNow()
        while (schedule.metrics.failed == 0L && start.elapsedNow() < 1.minutes) Thread.onSpinWait()
        assertEquals(listOf(3_000L, 0L, 1L, 0L, 2_999L, 0L), schedule.counts())
        running.cancel()
    }
}
