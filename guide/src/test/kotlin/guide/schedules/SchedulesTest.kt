package guide.schedules

import baton.BatonClock
import baton.Priority
import baton.resilience.Backoff
import baton.resilience.RetryPolicy
import baton.scheduler.Due
import baton.scheduler.InMemoryScheduleStore
import baton.scheduler.JournalLockedException
import baton.scheduler.JournalScheduleStore
import baton.scheduler.KeyCodec
import baton.scheduler.Misfire
import baton.scheduler.Overlap
import baton.scheduler.PausedBy
import baton.scheduler.RunOutcome
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.ScheduleEntry
import baton.scheduler.TaskTimeoutException
import baton.scheduler.Trigger
import baton.test.asBatonClock
import java.io.IOException
import java.nio.file.Path
import java.time.DayOfWeek
import java.time.Instant
import java.time.LocalTime
import java.time.ZoneId
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir

/** The Kotlin of docs/schedules.md. */
class SchedulesTest {
    @TempDir lateinit var folder: Path

    private val runs = ArrayList<Due<String>>()
    private val failures = ArrayList<Throwable>()
    private val shownLines = ArrayList<String>()
    private val quiet = ScheduleConfig(onFailure = { _, failure -> failures += failure })

    @Test
    fun checks_runAtTheTimesOfTheirTriggers() = runTest {
        val checks = Checks(backgroundScope) { due -> runs += due }
        checks.watch("example.org")
        delay(1.hours)
        assertTrue(runs.count { it.key == "example.org" } in 29..30)
        assertTrue(runs.count { it.key == "example.org/login" } in 118..120)
        checks.stop()
    }

    @Test
    fun triggers_areDueAtTheirTimes() = runTest {
        val schedule =
            Schedule<String>(config = ScheduleConfig(clock = clockAt("2027-01-01T00:00:00Z"))) { due -> runs += due }
        val berlin = ZoneId.of("Europe/Berlin")
        val soon = Instant.parse("2027-01-01T00:00:05Z")
        schedule.put("check", Trigger.every(2.minutes)) // the phase is a hash of the key
        schedule.put("rotate", Trigger.every(1.hours, anchor = Instant.EPOCH)) // on the hour, of UTC
        schedule.put("poll", Trigger.fixedDelay(30.seconds)) // after the end of the last run
        schedule.put("remind", Trigger.at(soon)) // once
        schedule.put("report", Trigger.daily(LocalTime.of(6, 30), berlin))
        schedule.put("bill", Trigger.weekly(setOf(DayOfWeek.MONDAY, DayOfWeek.FRIDAY), LocalTime.NOON, berlin))
        schedule.put("tick", Trigger { after -> after.plusSeconds(60) }) // a trigger of your own
        assertEquals(Instant.parse("2027-01-01T01:00:00Z"), schedule.nextDue("rotate"))
        assertEquals(Instant.parse("2027-01-01T05:30:00Z"), schedule.nextDue("report"))
        assertEquals(Instant.parse("2027-01-01T11:00:00Z"), schedule.nextDue("bill"))
        backgroundScope.launch { schedule.run() }
        delay(61.seconds)
        assertEquals(1, runs.count { it.key == "remind" })
        assertEquals(2, runs.count { it.key == "poll" })
        assertEquals(6, schedule.size, "the entry that was due once has gone")
    }

    @Test
    fun daily_inTheGapOfSummerTime_isDueAtItsEnd() = runTest {
        // The clocks of Berlin go from 02:00 to 03:00 on this day.
        val schedule = Schedule<String>(config = ScheduleConfig(clock = clockAt("2027-03-28T00:00:00Z"))) {}
        schedule.put("report", Trigger.daily(LocalTime.of(2, 30), ZoneId.of("Europe/Berlin")))
        assertEquals(Instant.parse("2027-03-28T01:00:00Z"), schedule.nextDue("report")) // 03:00 in Berlin
    }

    @Test
    fun daily_inTheHourThatComesTwice_isDueOnce() = runTest {
        val schedule =
            Schedule<String>(config = ScheduleConfig(clock = clockAt("2027-10-30T12:00:00Z"))) { due -> runs += due }
        schedule.put("report", Trigger.daily(LocalTime.of(2, 30), ZoneId.of("Europe/Berlin")))
        backgroundScope.launch { schedule.run() }
        delay(24.hours)
        assertEquals(listOf(Instant.parse("2027-10-31T00:30:00Z")), runs.map { it.at })
    }

    @Test
    fun restart_afterDueTimesWereMissed_makesUpForThem() = runTest {
        val config =
            ScheduleConfig(
                misfire = Misfire.CatchUp(max = 3),
                overlap = Overlap.QUEUE_ONE,
                clock = testScheduler.asBatonClock(),
            )
        val rows = InMemoryScheduleStore<String>()
        runFor(
            5.minutes,
            Schedule(rows, config = config) { due -> runs += due }
                .also { it.put("bill", Trigger.named("hourly") { after -> after.plusSeconds(3_600) }) },
        )
        val triggers = mapOf("hourly" to Trigger { after -> after.plusSeconds(3_600) })
        delay(10.hours)
        runFor(1.minutes, Schedule(rows, config = withTriggers(config, triggers)) { due -> runs += due })
        assertEquals(3, runs.size)
        assertTrue(runs.first().missed > 0)
    }

    @Test
    fun run_thatHangs_isCancelledAndTriedAgain() = runTest {
        val config =
            ScheduleConfig(
                runTimeout = { key -> if (key == "import") 1.hours else 30.seconds },
                retry = { RetryPolicy(maxAttempts = 3, backoff = Backoff.exponential(10.seconds), retryIf = { true }) },
                onFailure = { key, failure -> log(key, failure) },
            )
        val schedule =
            Schedule<String>(config = config) { due ->
                runs += due
                delay(Duration.INFINITE)
            }
        schedule.put("check", Trigger.fixedDelay(1.minutes))
        backgroundScope.launch { schedule.run() }
        delay(200.seconds)
        assertEquals(3, runs.size)
        assertTrue(failures.single() is TaskTimeoutException)
        assertEquals(2, failures.single().suppressed.size)
        assertEquals(RunOutcome.TIMED_OUT, schedule.entries().single().lastOutcome)
    }

    @Test
    fun entry_withData_passesItToItsRuns() = runTest {
        val schedule = Schedule<String> { due -> runs += due }
        val order = """{"order": 7}"""
        schedule.put("invoice 7", Trigger.fixedDelay(1.minutes), data = order.encodeToByteArray())
        backgroundScope.launch { schedule.run() }
        delay(2.minutes)
        assertEquals(order, runs.first().text)
    }

    @Test
    fun entries_areReadByPages() = runTest {
        val schedule = Schedule<String> {}
        repeat(2_500) { schedule.put("entry $it", Trigger.every(1.hours)) }
        val shown = ArrayList<ScheduleEntry<String>>()
        var page = schedule.entries()
        while (page.isNotEmpty()) {
            shown += page
            page = schedule.entries(after = page.last().key)
        }
        assertEquals(2_500, shown.size)
    }

    @Test
    fun entries_afterARun_showItsEndAndItsOutcome() = runTest {
        val clock = clockAt("2027-01-01T00:00:00Z")
        val schedule = Schedule<String>(config = ScheduleConfig(clock = clock)) { delay(10.minutes) }
        backgroundScope.launch { schedule.run() }
        schedule.put("report", Trigger.every(1.hours, Instant.EPOCH))
        schedule.put("poll", Trigger.fixedDelay(65.minutes))
        schedule.put("paused", Trigger.every(1.hours))
        schedule.pause("paused")
        delay(71.minutes)
        val (report, poll, paused) =
            listOf("report", "poll", "paused").map { key -> schedule.entries().single { it.key == key } }
        assertEquals(Instant.parse("2027-01-01T02:00:00Z"), report.nextDue)
        assertEquals(Instant.parse("2027-01-01T01:10:00Z"), report.lastRun) // the end of the run
        assertEquals(RunOutcome.SUCCEEDED, report.lastOutcome)
        assertEquals(null, report.runningSince)
        assertTrue(poll.runningSince != null && poll.nextDue == null && poll.lastRun == null)
        assertTrue(paused.pausedBy == PausedBy.USER && paused.nextDue == null)

        val due = schedule.entries().filter { it.nextDue != null }.sortedBy { it.nextDue }
        for (entry in due) println("${entry.key}: due ${entry.nextDue}, last ${entry.lastOutcome} at ${entry.lastRun}")
        assertEquals("report: due 2027-01-01T02:00:00Z, last SUCCEEDED at 2027-01-01T01:10:00Z", shownLines.single())
    }

    private fun println(line: String) = shownLines.add(line)

    @Test
    fun entry_isPausedTriggeredAndCancelled() = runTest {
        val schedule =
            Schedule<String> { due ->
                runs += due
                delay(10.minutes)
            }
        backgroundScope.launch { schedule.run() }
        schedule.put("import", Trigger.every(1.hours))
        schedule.pause("import") // no due times until resume
        schedule.triggerNow("import") // runs all the same, once
        runCurrent()
        delay(1.seconds)
        assertEquals(1, schedule.cancelRun("import")) // ends that run
        schedule.resume("import")
        schedule.pauseAll() // kept by the store
        assertTrue(schedule.isPaused)
        schedule.resumeAll()
        assertEquals(1, runs.size)
    }

    @Test
    fun journal_carriesTheEntriesOverARestart() = runBlocking {
        val journal = folder.resolve("checks.journal")
        val schedule = Schedule(JournalScheduleStore(journal, KeyCodec.STRING), name = "checks") { due -> runs += due }
        schedule.put("report", Trigger.every(1.hours, Instant.EPOCH), keepDue = true)
        launch { schedule.run() }
        schedule.resync() // returns when the entries are loaded
        schedule.shutdown()
        val next = Schedule(JournalScheduleStore(journal, KeyCodec.STRING), name = "checks") { due -> runs += due }
        launch { next.run() }
        next.resync()
        assertEquals(1, next.size)
        val other = Schedule(JournalScheduleStore(journal, KeyCodec.STRING), config = quiet) {}
        assertThrows<JournalLockedException> { other.run() }
        next.shutdown()
    }

    @Test
    fun action_thatThrows_keepsItsEntry() = runTest {
        val config = ScheduleConfig(onFailure = { key, failure -> log(key, failure) })
        val schedule = Schedule<String>(config = config) { throw IOException("no connection") }
        schedule.put("check", Trigger.fixedDelay(1.minutes))
        backgroundScope.launch { schedule.run() }
        delay(150.seconds)
        assertEquals(2, failures.size)
        assertEquals(2, schedule.metrics.failed)
        assertTrue(schedule.metrics.lagP99 <= 20.milliseconds)
        schedule.put("check", Trigger.fixedDelay(1.minutes), Priority.LOW)
        assertEquals(Priority.LOW, schedule.entries().single().priority)
    }

    private fun TestScope.clockAt(date: String): BatonClock = testScheduler.asBatonClock(Instant.parse(date))

    private suspend fun TestScope.runFor(time: Duration, schedule: Schedule<String>) {
        val running = backgroundScope.launch { schedule.run() }
        delay(time)
        schedule.shutdown()
        running.join()
    }

    private fun withTriggers(config: ScheduleConfig, triggers: Map<String, Trigger>) =
        ScheduleConfig(config.misfire, config.overlap, triggers = triggers, clock = config.clock)

    private fun log(key: Any, failure: Throwable) {
        check(key == "check")
        failures += failure
    }
}
