package baton.scheduler.schedule

import baton.clock
import baton.resilience.RetryBudget
import baton.scheduler.Overlap
import baton.scheduler.ScheduleConfig
import baton.scheduler.TaskTimeoutException
import baton.scheduler.Trigger
import java.io.IOException
import java.time.Instant
import kotlin.time.Duration
import kotlin.time.Duration.Companion.ZERO
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.UnconfinedTestDispatcher
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Test

/** Failed runs that are tried again. */
internal class RunRetryTest : RunRetryFixture() {
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
}
