package baton.scheduler.schedule

import baton.scheduler.Misfire
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.ScheduleStore
import baton.scheduler.Trigger
import java.time.Instant
import kotlin.time.Duration
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toJavaDuration
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Clocks that were wrong while a schedule ran, in both directions, and restarts: the contract of every store. */
abstract class ScheduleClockContract {
    /** Opens the same store, which is empty at first, anew. The last one opened was closed. */
    protected abstract fun open(): ScheduleStore<String>

    private val later = Trigger { after -> after.plusSeconds(300) }
    private val recurring =
        mapOf(
            "every" to Trigger.every(5.minutes, Instant.EPOCH),
            "hash" to Trigger.every(5.minutes),
            "delay" to Trigger.fixedDelay(5.minutes),
            "named" to Trigger.named("later", later),
            "named delay" to Trigger.named("pause", Trigger.fixedDelay(5.minutes)),
        )

    private fun ScheduleWorld.settings(misfire: Misfire = Misfire.FireOnce, named: Trigger = later): ScheduleConfig =
        config(misfire, triggers = mapOf("later" to named, "pause" to Trigger.fixedDelay(5.minutes)))

    /** Far from the epoch, so that clocks can be behind. */
    private fun clockTest(block: suspend ScheduleWorld.() -> Unit) = runTest {
        ScheduleWorld(this).run {
            jump(20_000.days)
            block()
        }
    }

    private suspend fun ScheduleWorld.restarted(
        of: Schedule<String>,
        jump: Duration,
        config: ScheduleConfig = settings(),
    ) =
        of.shutdown().let {
            jump(jump)
            started(config, open()).also { pass(0.seconds) }
        }

    private fun ScheduleWorld.putAll(schedule: Schedule<String>) {
        for ((key, trigger) in recurring) schedule.put(key, trigger)
    }

    private fun ScheduleWorld.assertUsualRate(keys: Collection<String> = recurring.keys) {
        runs.clear()
        pass(1.hours)
        for (key in keys) {
            assertTrue(runs.count { it.key == key } in 11..13, "$key: ${timesOf(key)}")
            assertTrue(runs.all { it.missed == 0 && it.lag < 1.seconds }, "$runs")
        }
    }

    @Test
    fun clockWasAhead_thenRight_restartedSchedule_firesAtTheUsualRate() {
        for (ahead in listOf(2.minutes, 1.hours, 365.days)) clockTest {
            jump(ahead)
            val first = started(settings(), open())
            putAll(first)
            val once = instant().plus((ahead + 3.hours).toJavaDuration())
            first.put("once", Trigger.at(once))
            pass(12.minutes)
            runs.clear()
            val second = restarted(first, -ahead)
            for (key in recurring.keys) {
                val due = second.nextDue(key)!!
                assertTrue(due > instant() && due <= instant().plusSeconds(300), "$key: $due at ${instant()}")
            }
            assertEquals(once, second.nextDue("once"), "the user's own time")
            assertEquals(0, runs.size)
            assertUsualRate()
            for (key in recurring.keys) second.remove(key)
            second.shutdown()
            val third = started(settings(), open())
            assertEquals(once, third.nextDue("once"))
            third.remove("once")
            third.shutdown()
        }
    }

    @Test
    fun clockWasBehind_thenRight_restartedSchedule_followsTheMisfirePolicy() {
        for (behind in listOf(1.hours, 365.days)) for (misfire in
            listOf(Misfire.FireOnce, Misfire.Skip, Misfire.CatchUp(3))) clockTest {
            jump(-behind)
            val first = started(settings(misfire), open())
            putAll(first)
            first.put("once", Trigger.at(instant().plusSeconds(1800)))
            pass(12.minutes)
            runs.clear()
            val second = restarted(first, behind, settings(misfire))
            val made = runs.groupingBy { it.key }.eachCount()
            val expected =
                when (misfire) {
                    Misfire.FireOnce -> mapOf("delay" to 1, "named" to 1, "named delay" to 1, "once" to 1)
                    Misfire.Skip -> emptyMap()
                    else -> mapOf("delay" to 1, "named" to 3, "named delay" to 1, "once" to 1)
                }
            assertEquals(expected, made, "$misfire: only the trigger of a fixed rate is stored")
            assertUsualRate()
            for (key in recurring.keys) second.remove(key)
            second.shutdown()
        }
    }

    @Test
    fun clockBehindAtTheRestart_thenRight_firesAtTheUsualRateInBoth() = clockTest {
        val first = started(settings(), open())
        putAll(first)
        pass(12.minutes)
        val second = restarted(first, -1.hours)
        assertUsualRate()
        jump(1.hours)
        pass(1.minutes)
        runs.clear()
        assertUsualRate()
        second.shutdown()
    }

    /** A due time that only the memory knows would begin anew with each start. */
    @Test
    fun clockWasAhead_thenRight_frequentRestarts_postponeNothing() = clockTest {
        jump(365.days)
        var schedule = started(settings(), open())
        putAll(schedule)
        pass(1.minutes)
        schedule = restarted(schedule, -365.days)
        runs.clear()
        repeat(10) {
            pass(1.minutes)
            schedule = restarted(schedule, Duration.ZERO)
        }
        for (key in recurring.keys) assertTrue(runs.count { it.key == key } in 1..3, "$key: ${timesOf(key)}")
        schedule.shutdown()
    }

    @Test
    fun rowWithoutADueTime_frequentRestarts_postponeNothing() = clockTest {
        val rows = listOf(rowOf("delay", "delay PT5M"), rowOf("named", "named later"))
        open().run {
            apply(rows)
            close()
        }
        var schedule = started(settings(), open())
        repeat(10) {
            pass(1.minutes)
            schedule = restarted(schedule, Duration.ZERO)
        }
        for (row in rows) assertTrue(runs.count { it.key == row.key } in 1..2, "${row.key}: ${timesOf(row.key)}")
        schedule.shutdown()
    }

    private fun after(time: Duration) = Trigger { after -> after.plus(time.toJavaDuration()) }

    private suspend fun ScheduleWorld.redefined(
        before: Duration,
        after: Duration,
        stopped: Duration,
    ): Schedule<String> {
        val first = started(settings(named = after(before)), open())
        first.put("report", Trigger.named("later", after(before)))
        pass(1.minutes)
        first.shutdown()
        pass(stopped)
        return started(settings(named = after(after)), open()).also { pass(0.seconds) }
    }

    private fun ScheduleWorld.wait(schedule: Schedule<String>) =
        java.time.Duration.between(instant(), schedule.nextDue("report")).toKotlinDuration()

    @Test
    fun namedTrigger_newDefinitionIsEarlier_countsAfterARestart() = clockTest {
        val schedule = redefined(30.days, 1.hours, stopped = 10.minutes)
        assertEquals(1.hours, wait(schedule))
        assertEquals(0, runs.size)
        pass(3.hours)
        assertEquals(3, runs.size)
        schedule.shutdown()
    }

    @Test
    fun namedTrigger_newDefinitionIsLater_keepsTheDueTimeThatIsStored() = clockTest {
        val schedule = redefined(1.hours, 30.days, stopped = 10.minutes)
        assertEquals(49.minutes, wait(schedule))
        pass(1.hours)
        assertEquals(1, runs.size)
        assertTrue(wait(schedule) > 29.days)
        schedule.shutdown()
    }

    @Test
    fun namedTrigger_newDefinition_missedRunIsCarriedOver() = clockTest {
        val schedule = redefined(1.hours, 30.days, stopped = 2.hours)
        assertEquals(1, runs.size)
        assertEquals(61.minutes, runs.single().lag, "due an hour after the put")
        schedule.shutdown()
    }
}
