package baton.scheduler.schedule

import baton.clockWith
import baton.scheduler.Misfire
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.Trigger
import baton.sync.assertContains
import java.time.Instant
import kotlin.time.Duration
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.microseconds
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/** The edges of every parameter. */
class ScheduleParametersTest {
    private fun refused(vararg texts: String, call: () -> Any) =
        assertContains(assertThrows(IllegalArgumentException::class.java) { call() }.message!!, *texts)

    @Test
    fun times_below1ms_areRefused() {
        for (time in listOf(999.microseconds, Duration.ZERO, (-1).days, -Duration.INFINITE)) {
            refused("period = $time", "1ms") { Trigger.every(time) }
            refused("delay = $time", "1ms") { Trigger.fixedDelay(time) }
            refused("resolution = $time", "1ms") { ScheduleConfig(resolution = time) }
            refused("flushEvery = $time", "1ms") { ScheduleConfig(flushEvery = time) }
            refused("resyncEvery = $time", "1ms") { ScheduleConfig(resyncEvery = time) }
        }
        refused("grace = -1ns", "at least 0") { ScheduleConfig(grace = (-1).nanoseconds) }
        refused("period = Infinity") { Trigger.every(Duration.INFINITE) }
        refused("delay = Infinity") { Trigger.fixedDelay(Duration.INFINITE) }
    }

    @ParameterizedTest
    @ValueSource(ints = [Int.MIN_VALUE, -1, 0])
    fun numbers_below1_areRefused(number: Int) {
        refused("max = $number", "1") { Misfire.CatchUp(number) }
        refused("maxConcurrency = $number", "1") { Schedule<String>(maxConcurrency = number) {} }
    }

    @Test fun name_blank_isRefused() = refused("name = ' '") { Trigger.named(" ", { it }) }

    @Test
    fun times_atTheirBounds_areAccepted() = runTest {
        val world = ScheduleWorld(this)
        val longest = (Long.MAX_VALUE / 2 - 1).milliseconds
        val shortest =
            world.config(
                resolution = 1.milliseconds,
                flushEvery = 1.milliseconds,
                resyncEvery = 1.milliseconds,
                grace = Duration.ZERO,
            )
        val endless =
            world.config(
                Misfire.CatchUp(Int.MAX_VALUE),
                resolution = longest,
                flushEvery = Duration.INFINITE,
                resyncEvery = Duration.INFINITE,
                grace = Duration.INFINITE,
            )
        for (config in listOf(shortest, endless)) {
            world.runs.clear()
            val schedule = world.started(config, maxConcurrency = if (config === shortest) 1 else Int.MAX_VALUE)
            schedule.put("short", Trigger.every(1.milliseconds, Instant.MAX))
            schedule.put("long", Trigger.every(longest, Instant.MIN))
            schedule.put("delay", Trigger.fixedDelay(longest))
            schedule.put("last", Trigger.at(Instant.MAX))
            schedule.put("first", Trigger.at(Instant.MIN))
            schedule.put("own last", { Instant.MAX })
            world.pass(if (config === shortest) 1.seconds else 1.minutes)
            assertTrue(
                world.timesOf("short").size >= if (config === shortest) 999 else 50_000,
                "${world.timesOf("short").size}",
            )
            assertEquals(Instant.MAX, schedule.nextDue("last"))
            assertEquals(listOf(Instant.MIN), world.runs.filter { it.key == "first" }.map { it.at })
            for (key in listOf("long", "delay", "own last")) {
                val due = schedule.nextDue(key)!!
                assertTrue(due > world.instant().plusSeconds(1_000_000)) { "$key at $due" }
            }
            schedule.shutdown()
        }
    }

    @Test
    fun triggers_outsideASchedule_returnTheNextTime() {
        val now = Instant.parse("2026-11-23T10:00:30.5Z")
        assertEquals(Instant.parse("2026-11-23T10:02:00Z"), Trigger.every(2.minutes).next(now))
        assertEquals(
            Instant.parse("2026-11-23T10:01:07Z"),
            Trigger.every(1.minutes, Instant.ofEpochSecond(7)).next(now),
        )
        assertEquals(Instant.parse("2026-11-23T10:01:00.5Z"), Trigger.fixedDelay(30.seconds).next(now))
        assertEquals(now.plusSeconds(1), Trigger.at(now.plusSeconds(1)).next(now))
        assertNull(Trigger.at(now).next(now))
        assertEquals(Instant.parse("2026-11-23T10:02:00Z"), Trigger.named("n", Trigger.every(2.minutes)).next(now))
        assertEquals(
            "named(n, every(2m, anchor = 1970-01-01T00:00:00Z))",
            "${Trigger.named("n", Trigger.every(2.minutes, Instant.EPOCH))}",
        )
        assertEquals(
            "at(1970-01-01T00:00:00Z), fixedDelay(5s), every(1s)",
            listOf(Trigger.at(Instant.EPOCH), Trigger.fixedDelay(5.seconds), Trigger.every(1.seconds)).joinToString(),
        )
    }

    @Test
    fun triggers_asText_areReadAsTheyWere() {
        val named = Trigger { it }
        val triggers =
            listOf(
                Trigger.every(1.milliseconds),
                Trigger.every(100_000.days, Instant.MIN),
                Trigger.every(1_234_567.nanoseconds, Instant.ofEpochSecond(1, 1)),
                Trigger.fixedDelay(90.seconds),
                Trigger.at(Instant.MAX),
                Trigger.named("two words from x", named),
            )
        for (trigger in triggers) {
            val text = TriggerText.of(trigger)
            assertEquals("$trigger", "${TriggerText.parse(text, mapOf("two words from x" to named))}")
        }
    }

    @Test
    fun clock_ofAnyYear_fires() {
        for (year in
            listOf(
                "-999999999-01-01T00:00:00Z",
                "1600-01-01T00:00:00Z",
                "2500-01-01T00:00:00Z",
                "9999-12-31T00:00:00Z",
            )) runTest {
            val start = Instant.parse(year)
            val inner = ScheduleWorld(this)
            var fired = 0
            val config = ScheduleConfig(clock = clockWith { start.plusMillis(inner.instant().toEpochMilli()) })
            val schedule = Schedule<String>(config = config) { fired++ }
            inner.start(schedule)
            schedule.put("a", Trigger.every(1.minutes, Instant.EPOCH))
            inner.pass(10.minutes)
            if (start > Instant.parse("-30000-01-01T00:00:00Z")) assertEquals(10, fired)
        }
    }
}
