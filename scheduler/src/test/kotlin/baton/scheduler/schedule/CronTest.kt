package baton.scheduler.schedule

import baton.scheduler.InMemoryScheduleStore
import baton.scheduler.Trigger
import com.cronutils.model.CronType
import com.cronutils.model.definition.CronDefinitionBuilder
import com.cronutils.model.time.ExecutionTime
import com.cronutils.parser.CronParser
import java.time.Instant
import java.time.LocalDateTime
import java.time.ZoneId
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.minutes
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** The example in the documentation of [Trigger], in the nights when the clocks change. */
class CronTest {
    private val berlin = ZoneId.of("Europe/Berlin")

    private fun cron(expression: String, zone: ZoneId): Trigger {
        val definition = CronDefinitionBuilder.instanceDefinitionFor(CronType.UNIX)
        val times = ExecutionTime.forCron(CronParser(definition).parse(expression))
        return Trigger { after -> times.nextExecution(after.atZone(zone)).orElse(null)?.toInstant() }
    }

    /** The times at which [expression] fires on the day and the night before [day], and the day after. */
    private fun firesOf(expression: String, day: String): List<String> {
        val fires = ArrayList<String>()
        runTest {
            val world = ScheduleWorld(this)
            val start = LocalDateTime.parse("${day}T00:00:00").atZone(berlin).toInstant()
            world.jump(java.time.Duration.between(Instant.EPOCH, start).toKotlinDuration())
            val schedule = world.started()
            schedule.put("report", cron(expression, berlin))
            world.pass(if (expression.startsWith("*")) 4.hours else 2.days)
            world.runs.mapTo(fires) { it.at.atZone(berlin).run { "${dayOfMonth}. ${toLocalTime()} $offset" } }
        }
        return fires
    }

    @Test
    fun hourThatIsMissing_isSkipped() {
        assertEquals(listOf("30. 02:30 +02:00"), firesOf("30 2 * * *", "2026-03-29"))
        assertEquals(
            listOf(
                "29. 00:30 +01:00",
                "29. 01:00 +01:00",
                "29. 01:30 +01:00",
                "29. 03:00 +02:00",
                "29. 03:30 +02:00",
                "29. 04:00 +02:00",
                "29. 04:30 +02:00",
                "29. 05:00 +02:00",
            ),
            firesOf("*/30 * * * *", "2026-03-29"),
        )
    }

    @Test
    fun hourThatComesTwice_firesOnce_butForSteps() {
        assertEquals(listOf("25. 02:30 +02:00", "26. 02:30 +01:00"), firesOf("30 2 * * *", "2026-10-25"))
        assertEquals(
            listOf(
                "25. 00:30 +02:00",
                "25. 01:00 +02:00",
                "25. 01:30 +02:00",
                "25. 02:00 +02:00",
                "25. 02:30 +02:00",
                "25. 02:00 +01:00",
                "25. 02:30 +01:00",
                "25. 03:00 +01:00",
            ),
            firesOf("*/30 * * * *", "2026-10-25"),
        )
    }

    /** As documented: the trigger does not know that the entry has fired. */
    @Test
    fun hourThatComesTwice_entryPutOrLoadedBetween_firesAgain() = runTest {
        val world = ScheduleWorld(this)
        val nightly = cron("30 2 * * *", berlin)
        val config = world.config(triggers = mapOf("nightly" to nightly))
        val store = InMemoryScheduleStore<String>()
        world.jump(java.time.Duration.between(Instant.EPOCH, Instant.parse("2026-10-25T00:00:00Z")).toKotlinDuration())
        val first = world.started(config, store)
        for (key in listOf("put", "loaded")) first.put(key, Trigger.named("nightly", nightly))
        world.pass(45.minutes)
        assertEquals(2, world.runs.size)
        first.put("put", Trigger.named("nightly", nightly))
        first.shutdown()
        val second = world.started(config, store)
        for (key in listOf("put", "loaded")) assertEquals(Instant.parse("2026-10-25T01:30:00Z"), second.nextDue(key))
        world.pass(1.hours)
        for (key in listOf("put", "loaded")) assertEquals(Instant.parse("2026-10-26T01:30:00Z"), second.nextDue(key))
        second.shutdown()
    }

    @Test
    fun cronTrigger_named_isFoundAgain() = runTest {
        val world = ScheduleWorld(this)
        val store = InMemoryScheduleStore<String>()
        val nightly = cron("30 2 * * *", berlin)
        val config = world.config(triggers = mapOf("nightly" to nightly))
        val first = world.started(config, store)
        first.put("report", Trigger.named("nightly", nightly))
        first.shutdown()
        val second = world.started(config, store)
        assertEquals(Instant.parse("1970-01-01T01:30:00Z"), second.nextDue("report"))
    }
}
