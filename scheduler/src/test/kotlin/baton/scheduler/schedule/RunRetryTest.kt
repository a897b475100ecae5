package baton.scheduler.schedule

import baton.BatonClock
import baton.Priority
import baton.clock
import baton.resilience.Backoff
import baton.resilience.Jitter
import baton.resilience.RetryBudget
import baton.resilience.RetryPolicy
import baton.scheduler.Overlap
import baton.scheduler.PausedBy
import baton.scheduler.RunOutcome
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
import kotlinx.coroutines.Job
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.UnconfinedTestDispatcher
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Failed runs that are tried again. */
class RunRetryTest {
    private val every10 = Trigger.every(10.seconds, anchor = Instant.EPOCH)
    private val at10 = Trigger.at(Instant.ofEpochSecond(10))

    private fun policy(
        attempts: Int = 3,
        wait: Duration = 3.seconds,
        maxElapsed: Duration = Duration.INFINITE,
        attemptTimeout: Duration = Duration.INFINITE,
        budget: RetryBudget? = null,
        retryIf: (Throwable) -> Boolean = { true },
    ) =
        RetryPolicy(
            attempts,
            Backoff.constant(wait),
            Jitter.None,
            maxElapsed = maxElapsed,
            attemptTimeout = attemptTimeout,
            retryIf = retryIf,
            budget = budget,
        )

    private fun ScheduleWorld.retrying(
        policy: RetryPolicy?,
        overlap: Overlap = Overlap.SKIP,
        runTimeout: Duration = Duration.INFINITE,
    ) =
        config(overlap = overlap).let {
            ScheduleConfig(
                overlap = overlap,
                onFailure = it.onFailure,
                clock = it.clock,
                runTimeout = { runTimeout },
                retry = { policy },
            )
        }

    /** Fired, succeeded, failed, cancelled, retried, running. */
    private fun Schedule<*>.counts() =
        metrics.run { listOf(fired, succeeded, failed, cancelled, retried, running.toLong()) }

    /** When the actions began, in virtual seconds. */
    private val begun = ArrayList<Long>()

    private fun ScheduleWorld.begins() {
        begun += instant().epochSecond
    }

    @Test
    fun failedRun_isTriedAgain_untilItSucceeds() = scheduleTest {
        val schedule =
            started(retrying(policy())) {
                begins()
                if (begun.size < 3) throw IOException("down")
            }
        schedule.put("a", Trigger.fixedDelay(10.seconds))
        pass(17.seconds)
        assertEquals(listOf(10L, 13L, 16L), begun)
        assertEquals(listOf(10L, 10L, 10L), times, "each attempt is of the same due time")
        assertEquals(listOf(3L, 1L, 0L, 0L, 2L, 0L), schedule.counts())
        assertEquals(0, failures.size)
        assertEquals(Instant.ofEpochSecond(26), schedule.nextDue("a"), "counted from the end of the last attempt")
        assertEquals(ZERO, schedule.metrics.lagTotal)
    }

    @Test
    fun runThatFailsForGood_isReportedOnce_withTheEarlierFailures() = scheduleTest {
        val schedule =
            started(retrying(policy())) {
                begins()
                throw IOException("down ${begun.size}")
            }
        schedule.put("a", Trigger.fixedDelay(100.seconds))
        pass(110.seconds)
        assertEquals(listOf("down 3"), failures.map { it.second.message })
        assertEquals(listOf("down 1", "down 2"), failures.single().second.suppressed.map { it.message })
        assertEquals(listOf(3L, 0L, 1L, 0L, 2L, 0L), schedule.counts())
    }

    /** The next attempt is handed over before the coroutine of the last one has completed. */
    @Test
    fun retry_withoutAWait_onADispatcherThatRunsInPlaceOrNot() = scheduleTest { scope ->
        for (dispatcher in
            listOf(UnconfinedTestDispatcher(scope.testScheduler), StandardTestDispatcher(scope.testScheduler))) {
            val base = runs.size
            val schedule =
                schedule(retrying(policy(attempts = 4, wait = ZERO)), maxConcurrency = 1) {
                    if (runs.size - base < 4) throw IOException()
                    delay(5.seconds)
                }
            scope.backgroundScope.launch(dispatcher) { schedule.run() }
            schedule.put("a", Trigger.at(instant().plusSeconds(10)))
            pass(12.seconds)
            assertEquals(listOf(4L, 0L, 0L, 0L, 3L, 1L), schedule.counts())
            assertEquals(1, schedule.cancelRun("a"))
            pass(ZERO)
            assertEquals(listOf(4L, 0L, 0L, 1L, 3L, 0L), schedule.counts())
            assertEquals(0, schedule.size)
            schedule.shutdown()
        }
        assertEquals(0, failures.size)
    }

    @Test
    fun placeOfTheRun_isGivenBackBetweenAttempts() = scheduleTest {
        val schedule =
            started(retrying(policy()), maxConcurrency = 1) {
                begins()
                if (it.key == "bad") throw IOException() else delay(1.seconds)
            }
        schedule.put("bad", at10)
        schedule.put("good", Trigger.at(Instant.ofEpochSecond(11)))
        pass(12.seconds)
        assertEquals(listOf(10L, 11L), begun)
        assertEquals(listOf(2L, 1L, 0L, 0L, 1L, 0L), schedule.counts())
        assertEquals(0L, schedule.usage().inUse)
    }

    @Test
    fun dueTimes_whileARunWaitsForItsNextAttempt_areThoseOfARunThatGoesOn() = scheduleTest {
        for ((overlap, expected) in
            listOf(
                Overlap.SKIP to listOf(10L, 10L, 30L),
                Overlap.QUEUE_ONE to listOf(10L, 10L, 20L),
                Overlap.ALLOW to listOf(10L, 20L, 10L, 30L),
            )) {
            val base = instant().epochSecond
            runs.clear()
            val schedule =
                started(retrying(policy(wait = 15.seconds), overlap)) { due ->
                    if (due.at.epochSecond == base + 10 && runs.size == 1) throw IOException()
                }
            schedule.put("a", every10)
            pass(30.seconds)
            assertEquals(expected, times.map { it - base }.take(expected.size), "$overlap")
            schedule.shutdown()
            pass(30.seconds)
        }
    }

    @Test
    fun whatThePolicyDoesNotAccept_isNotTriedAgain() = scheduleTest {
        val schedule = started(retrying(policy(retryIf = { it is IOException }))) { error("bug") }
        schedule.put("a", at10)
        pass(20.seconds)
        assertEquals(listOf(1L, 0L, 1L, 0L, 0L, 0L), schedule.counts())
    }

    @Test
    fun policyThatThrows_isTheFailureOfTheRun() = scheduleTest {
        val config = retrying(policy(retryIf = { error("policy") }))
        val schedule = started(config) { throw IOException("down") }
        schedule.put("a", at10)
        val lookUp =
            started(
                ScheduleConfig(onFailure = config.onFailure, clock = config.clock, retry = { error("no policy") })
            ) {
                error("must not run")
            }
        lookUp.put("b", at10)
        pass(20.seconds)
        assertEquals(
            mapOf<Any, String?>("a" to "policy", "b" to "no policy"),
            failures.associate { it.first to it.second.message },
        )
        assertEquals(0, schedule.metrics.running + lookUp.metrics.running)
    }

    @Test
    fun boundOfTheElapsedTime_isMeasuredByTheClockOfTheSchedule() = scheduleTest {
        val schedule = started(retrying(policy(attempts = 100, maxElapsed = 10.seconds))) { throw IOException() }
        schedule.put("a", at10)
        pass(60.seconds)
        assertEquals(listOf(4L, 0L, 1L, 0L, 3L, 0L), schedule.counts())
    }

    @Test
    fun budget_isSpentByRetries_andEarnedBySuccesses() = scheduleTest {
        val budget = RetryBudget(ratio = 1.0, burst = 1)
        val schedule =
            started(retrying(policy(attempts = 10, budget = budget))) { if (runs.size != 3) throw IOException() }
        schedule.put("a", Trigger.fixedDelay(10.seconds))
        pass(100.seconds)
        // One retry; the second run succeeds at once and earns the next.
        assertEquals(listOf(10L, 10L, 23L), times.take(3))
        assertEquals(2L, schedule.metrics.retried)
    }

    @Test
    fun attemptThatTakesTooLong_isTriedAgain() = scheduleTest {
        for ((timeout, attempt) in listOf(3.seconds to Duration.INFINITE, 60.seconds to 3.seconds)) {
            failures.clear()
            val schedule =
                started(retrying(policy(attempts = 2, attemptTimeout = attempt), runTimeout = timeout)) {
                    awaitCancellation()
                }
            schedule.put("a", Trigger.fixedDelay(10.seconds))
            pass(20.seconds)
            assertEquals(listOf(2L, 0L, 0L, 0L, 1L, 0L), schedule.counts())
            assertEquals(1L, schedule.metrics.timedOut)
            val failure = assertInstanceOf(TaskTimeoutException::class.java, failures.single().second)
            assertEquals("the run of 'a' took longer than 3s", failure.message)
            assertEquals(1, failure.suppressed.size)
            schedule.shutdown()
        }
    }

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

    @Test
    fun retries_whileTheScheduleIsPausedAsAWhole_waitForItsEnd() = scheduleTest {
        val schedule =
            started(retrying(policy())) {
                begins()
                if (begun.size == 1) throw IOException()
            }
        schedule.put("a", at10)
        pass(11.seconds)
        schedule.pauseAll()
        pass(10.seconds)
        assertEquals(listOf(10L), begun)
        schedule.resumeAll()
        pass(ZERO)
        assertEquals(listOf(10L, 21L), begun)
        assertEquals(0, schedule.size)
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
