package baton.scheduler

import baton.Priority
import baton.clockWith
import baton.resilience.Backoff
import baton.resilience.RetryPolicy
import java.net.URI
import java.time.Instant
import java.time.LocalTime
import java.time.ZoneId
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The examples in the documentation of [Schedule] and its kin. */
class ScheduleExamplesTest {
    private val checked = ArrayList<String>()

    private fun check(key: String) {
        checked += key
    }

    private fun cron(after: Instant): Instant? = after.plusSeconds(60)

    @Test
    fun schedule_example_runsTheChecks() = runTest {
        val scope: CoroutineScope = this
        val schedule = Schedule<String>(maxConcurrency = 200, name = "checks") { due -> check(due.key) }
        val running = scope.launch { schedule.run() }
        schedule.put("a", Trigger.every(2.minutes))
        schedule.put("b", Trigger.fixedDelay(30.seconds), Priority.HIGH)
        schedule.triggerNow("a")
        runCurrent()
        running.cancel() // waits for what runs, and writes what has changed
        joinAll(running)
        assertEquals(listOf("a"), checked)
        assertEquals(0, schedule.metrics.dirty)
    }

    @Test
    fun trigger_examples_areDue() = runTest {
        val schedule = Schedule<String> { due -> check(due.key) }
        schedule.put("check", Trigger.every(2.minutes))
        schedule.put("rotate", Trigger.every(1.hours, anchor = Instant.EPOCH)) // on the hour
        schedule.put("poll", Trigger.fixedDelay(30.seconds))
        schedule.put("remind", Trigger.at(Instant.now().plusSeconds(5)))
        schedule.put("report", Trigger.daily(LocalTime.of(2, 30), ZoneId.of("Europe/Berlin")))
        schedule.put("tick", Trigger { after -> after.plusSeconds(60) })
        val now = Instant.now()
        for (key in listOf("check", "rotate", "poll", "remind", "report", "tick")) assertTrue(
            schedule.nextDue(key)!! > now
        )
        assertEquals(0, schedule.nextDue("rotate")!!.epochSecond % 3600)
    }

    @Test
    fun scheduleConfig_example_isUsed() = runTest {
        val log = ArrayList<String>()
        val config =
            ScheduleConfig(
                misfire = Misfire.CatchUp(max = 3),
                overlap = Overlap.QUEUE_ONE,
                triggers = mapOf("nightly" to Trigger { after -> cron(after) }),
                runTimeout = { key -> if (key == "import") 1.hours else 30.seconds },
                retry = { RetryPolicy(maxAttempts = 3, backoff = Backoff.exponential(10.seconds)) },
                onFailure = { key, failure -> log += "$key: ${failure.message}" },
                resolution = 100.milliseconds,
                flushEvery = 5.seconds,
                resyncEvery = 12.hours,
                grace = 10.seconds,
                clock = clockWith { Instant.ofEpochMilli(currentTime) },
            )
        val schedule =
            Schedule<Long>(InMemoryScheduleStore(), config = config) { due ->
                error("${due.key} ${due.at} ${due.lag} ${due.priority} ${due.missed}")
            }
        schedule.put(7, Trigger.named("nightly") { after -> cron(after) }, Priority.LOW)
        backgroundScope.launch { schedule.run() }
        advanceTimeBy(61.seconds)
        assertEquals(listOf("7: 7 1970-01-01T00:01:00Z 0s LOW 0"), log)
    }

    @Test
    fun entries_example_showsEachPage() {
        val schedule = Schedule<String> {}
        repeat(2_500) { schedule.put("$it", Trigger.every(2.minutes), data = "text".encodeToByteArray()) }
        val shown = ArrayList<ScheduleEntry<String>>()
        fun show(entry: ScheduleEntry<String>) = shown.add(entry)
        var page = schedule.entries()
        while (page.isNotEmpty()) {
            page.forEach(::show)
            page = schedule.entries(after = page.last().key)
        }
        assertEquals(schedule.size, shown.size)
    }

    @Test
    fun keyCodec_example_readsWhatItHasWritten() {
        val urls =
            object : KeyCodec<URI> {
                override fun encode(key: URI) = key.toString()

                override fun decode(text: String) = URI.create(text)
            }
        val key = URI("http://localhost/")
        assertEquals(key, urls.decode(urls.encode(key)))
    }
}
