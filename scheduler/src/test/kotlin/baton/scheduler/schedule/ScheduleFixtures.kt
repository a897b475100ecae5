package baton.scheduler.schedule

import baton.clockWith
import baton.scheduler.Due
import baton.scheduler.InMemoryScheduleStore
import baton.scheduler.Misfire
import baton.scheduler.Overlap
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.ScheduleStore
import baton.scheduler.Trigger
import java.time.Instant
import java.time.InstantSource
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toJavaDuration
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Job
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestResult
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest

/** Runs [block] in virtual time. */
internal fun scheduleTest(block: suspend ScheduleWorld.(TestScope) -> Unit): TestResult = runTest {
    ScheduleWorld(this).block(this)
}

internal val everyMinute = Trigger.every(1.minutes, anchor = Instant.EPOCH)

/** A schedule in virtual time, which began at the epoch, and a record of its runs and failures. */
internal class ScheduleWorld(private val scope: TestScope) : InstantSource {
    val runs = ArrayList<Due<String>>()
    val failures = ArrayList<Pair<Any, Throwable>>()

    /** By how much the clock is ahead of the virtual time. */
    var shift: Duration = Duration.ZERO

    /** How many of the next readings of the clock fail. */
    var clockFailures = 0

    override fun instant(): Instant {
        if (clockFailures > 0) error("clock failure ${clockFailures--}")
        return Instant.ofEpochMilli(scope.currentTime).plus(shift.toJavaDuration())
    }

    fun config(
        misfire: Misfire = Misfire.FireOnce,
        overlap: Overlap = Overlap.SKIP,
        resolution: Duration = 10.milliseconds,
        flushEvery: Duration = 5.seconds,
        resyncEvery: Duration = 12.hours,
        grace: Duration = 10.seconds,
        triggers: Map<String, Trigger> = emptyMap(),
    ) =
        ScheduleConfig(
            misfire,
            overlap,
            resolution,
            flushEvery,
            resyncEvery,
            grace,
            triggers,
            ::failed,
            scope.clockWith(this),
        )

    private fun failed(key: Any, failure: Throwable) {
        failures += key to failure
    }

    /** Not started yet. */
    fun schedule(
        config: ScheduleConfig = config(),
        store: ScheduleStore<String> = InMemoryScheduleStore(),
        maxConcurrency: Int = 200,
        action: suspend (Due<String>) -> Unit = {},
    ) =
        Schedule(store, maxConcurrency, "test", config) { due ->
            runs += due
            action(due)
        }

    /** It ends with the test. */
    fun start(schedule: Schedule<*>): Job =
        scope.backgroundScope.launch(start = CoroutineStart.UNDISPATCHED) { schedule.run() }

    fun started(
        config: ScheduleConfig = config(),
        store: ScheduleStore<String> = InMemoryScheduleStore(),
        maxConcurrency: Int = 200,
        action: suspend (Due<String>) -> Unit = {},
    ): Schedule<String> = schedule(config, store, maxConcurrency, action).also { start(it) }

    /** Lets virtual time pass, what is due at the end included. */
    fun pass(time: Duration) {
        scope.advanceTimeBy(time)
        scope.runCurrent()
    }

    fun jump(time: Duration) {
        shift += time
    }

    /** When the runs were due, in seconds since the epoch. */
    val times: List<Long>
        get() = runs.map { it.at.epochSecond }

    fun timesOf(key: String): List<Long> = runs.filter { it.key == key }.map { it.at.epochSecond }
}
