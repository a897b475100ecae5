package baton.scheduler.schedule

import baton.scheduler.Trigger
import java.time.Instant
import kotlin.time.Duration
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Long times: every entry fires exactly as often as its period says. */
class ScheduleDayTest {
    @Test fun manyEntries_aDay_fireExactly() = firesExactly(3_000, 1.days) { (20 + it % 20 * 13).minutes }
}

internal fun firesExactly(entries: Int, time: Duration, limit: Duration = 10.minutes, periodOf: (Int) -> Duration) =
    runTest(timeout = limit) {
        val world = ScheduleWorld(this)
        val fired = IntArray(entries)
        val last = LongArray(entries)
        var wrong = 0
        val config = world.config(resolution = 1.seconds, resyncEvery = Duration.INFINITE)
        val schedule =
            baton.scheduler.Schedule<Int>(config = config) { due ->
                val millis = due.at.toEpochMilli()
                // Apart from the first one, the due times are one period apart, and no lag is longer than the
                // resolution.
                if (fired[due.key]++ > 0 && millis - last[due.key] != periodOf(due.key).inWholeMilliseconds) wrong++
                if (due.lag >= 1.seconds || due.missed > 0) wrong++
                last[due.key] = millis
            }
        world.start(schedule)
        // A third has an anchor, the others have a phase of their own.
        for (i in 0 until entries) {
            schedule.put(i, Trigger.every(periodOf(i), if (i % 3 == 0) Instant.ofEpochSecond(i.toLong()) else null))
        }
        val first = LongArray(entries) { schedule.nextDue(it)!!.toEpochMilli() }
        world.pass(time)
        val expected =
            IntArray(entries) {
                ((time.inWholeMilliseconds - first[it]) / periodOf(it).inWholeMilliseconds).toInt() + 1
            }
        assertEquals(expected.toList(), fired.toList())
        assertEquals(0, wrong)
        assertEquals(expected.sumOf { it.toLong() }, schedule.metrics.fired)
        assertEquals(0, schedule.metrics.skipped)
        assertEquals(1, schedule.metrics.storeWrites)
    }
