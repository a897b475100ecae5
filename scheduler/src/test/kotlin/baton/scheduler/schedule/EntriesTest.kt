package baton.scheduler.schedule

import baton.Priority
import baton.scheduler.Misfire
import baton.scheduler.PausedBy
import baton.scheduler.RunOutcome
import baton.scheduler.ScheduleEntry
import baton.scheduler.Trigger
import java.time.Instant
import kotlin.time.Duration.Companion.ZERO
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The contents of an entry, and edits that keep some of them. */
class EntriesTest {
    private val every10 = Trigger.every(10.seconds, anchor = Instant.EPOCH)

    private fun ScheduleEntry<*>.text() =
        "$key $priority ${nextDue?.epochSecond} $pausedBy ${runningSince?.epochSecond} ${lastRun?.epochSecond} $lastOutcome"

    @Test
    fun entries_showTheirState() = scheduleTest {
        val schedule = started {
            if (it.key == "long") delay(25.seconds)
            if (it.key == "fails") error("down")
        }
        schedule.put("long", every10, Priority.HIGH)
        schedule.put("fails", every10)
        schedule.put("paused", every10)
        schedule.pause("paused")
        schedule.put("unknown", { error("no calendar") })
        assertEquals(every10, schedule.entries().first().trigger)
        pass(12.seconds)
        assertEquals(
            listOf(
                "long HIGH 20 null 10 null null",
                "fails NORMAL 20 null null 10 FAILED",
                "paused NORMAL null USER null null null",
                "unknown NORMAL null FAILED_TRIGGER null null null",
            ),
            schedule.entries().map { it.text() },
        )
        pass(25.seconds)
        assertEquals("long HIGH 40 null null 35 SUCCEEDED", schedule.entries().first().text())
        schedule.remove("fails")
        schedule.put("fails", every10)
        assertEquals("fails NORMAL 40 null null null null", schedule.entries().first { it.key == "fails" }.text())
    }

    @Test
    fun entries_byPages_areAllOfThem() = scheduleTest {
        val schedule = schedule()
        val keys = List(2_503) { "k$it" }
        for (key in keys) schedule.put(key, every10)
        for (i in 0 until 2_503 step 3) schedule.remove("k$i")
        for (limit in listOf(1, 7, 1_000, Int.MAX_VALUE)) {
            val found = ArrayList<String>()
            var page = schedule.entries(limit = limit)
            while (page.isNotEmpty()) {
                assertTrue(page.size <= limit)
                found += page.map { it.key }
                page = schedule.entries(page.last().key, limit)
            }
            assertEquals(schedule.size, found.size)
            assertEquals(keys.filterIndexed { i, _ -> i % 3 != 0 }, found)
        }
        assertEquals(1_000, schedule.entries().size)
        for (limit in listOf(0, -1, Int.MIN_VALUE)) {
            val refusal = assertThrows(IllegalArgumentException::class.java) { schedule.entries(limit = limit) }
            assertEquals("limit = $limit, must be at least 1", refusal.message)
        }
        assertThrows(IllegalArgumentException::class.java) { schedule.entries(after = "never there") }
        assertEquals(emptyList<Any>(), schedule().entries())
    }

    @Test
    fun data_isPassedToEachRun_andBelongsToNobodyElse() = scheduleTest {
        val schedule = started()
        val data = "payload ü".encodeToByteArray()
        schedule.put("a", every10, data = data)
        data.fill(0)
        pass(10.seconds)
        assertEquals("payload ü", runs.single().text)
        runs.single().data!!.fill(0)
        pass(10.seconds)
        assertEquals("payload ü", runs.last().text)
        schedule.put("a", every10, data = ByteArray(0))
        pass(10.seconds)
        assertArrayEquals(ByteArray(0), runs.last().data)
        assertEquals("", runs.last().text)
        schedule.put("a", every10)
        pass(10.seconds)
        assertNull(runs.last().data)
        assertNull(runs.last().text)
    }

    @Test
    fun data_upTo64KiB_isTaken_andMoreIsRefused() = scheduleTest {
        val schedule = schedule()
        schedule.put("a", every10, data = ByteArray(65_536))
        for (put in
            listOf(
                { schedule.put("b", every10, data = ByteArray(65_537)) },
                { schedule.putIfAbsent("b", every10, data = ByteArray(65_537)).let {} },
            )) {
            val refusal = assertThrows(IllegalArgumentException::class.java) { put() }
            assertEquals("data has 65537 bytes, must have at most 65536", refusal.message)
        }
        assertEquals(1, schedule.size)
    }

    @Test
    fun slot_thatIsUsedAgain_showsNothingOfTheFormerEntry() = scheduleTest {
        val schedule = started()
        schedule.put("old", { after -> after.plusSeconds(10) }, data = byteArrayOf(1))
        pass(12.seconds)
        schedule.remove("old")
        pass(10.seconds)
        schedule.put("new", every10)
        assertEquals("new NORMAL 30 null null null null", schedule.entries().single().text())
        pass(10.seconds)
        assertNull(runs.last().data)
    }

    @Test
    fun putIfAbsent_leavesTheEntryThatIsThere() = scheduleTest {
        val schedule = started()
        assertTrue(schedule.putIfAbsent("a", every10))
        assertFalse(schedule.putIfAbsent("a", Trigger.fixedDelay(1.seconds), Priority.HIGH, byteArrayOf(1)))
        schedule.pause("a")
        assertFalse(schedule.putIfAbsent("a", every10))
        assertEquals("a NORMAL null USER null null null", schedule.entries().single().text())
        schedule.remove("a")
        assertTrue(schedule.putIfAbsent("a", every10))
        schedule.shutdown()
        assertThrows(IllegalStateException::class.java) { schedule.putIfAbsent("a", every10) }
        assertThrows(IllegalStateException::class.java) { schedule.pauseAll() }
    }

    @Test
    fun put_thatKeepsTheDueTime_changesTheRest() = scheduleTest {
        val schedule = started { if (it.key == "runs") delay(5.seconds) }
        schedule.put("a", Trigger.fixedDelay(20.seconds))
        schedule.put("paused", Trigger.fixedDelay(20.seconds))
        schedule.put("runs", Trigger.fixedDelay(10.seconds))
        schedule.put("at", Trigger.at(Instant.ofEpochSecond(100)))
        schedule.pause("paused")
        pass(12.seconds)
        for (key in listOf("a", "paused", "runs", "at", "new")) schedule.put(
            key,
            Trigger.fixedDelay(30.seconds),
            Priority.LOW,
            byteArrayOf(7),
            keepDue = true,
        )
        val expected = mapOf("a" to 20L, "paused" to null, "runs" to null, "at" to 42L, "new" to 42L)
        assertEquals(expected, expected.keys.associateWith { schedule.nextDue(it)?.epochSecond })
        assertEquals(PausedBy.USER, schedule.entries().first { it.key == "paused" }.pausedBy)
        pass(8.seconds)
        assertEquals("a LOW [7]", runs.last().run { "$key $priority ${data?.toList()}" })
        assertEquals(listOf(45L, 50L), listOf("runs", "a").map { schedule.nextDue(it)?.epochSecond })
        val same = Trigger.at(Instant.ofEpochSecond(200))
        schedule.put("at", same)
        schedule.put("at", Trigger.at(Instant.ofEpochSecond(200)), Priority.HIGH, keepDue = true)
        assertEquals("at HIGH 200 null null null null", schedule.entries().first { it.key == "at" }.text())
        schedule.put("at", Trigger.at(Instant.ofEpochSecond(300)), keepDue = true)
        assertEquals(300L, schedule.nextDue("at")?.epochSecond)
    }

    @Test
    fun pauseAll_holdsBackDueAndWaitingAndRequestedRuns() = scheduleTest {
        val schedule = started(maxConcurrency = 1) { delay(5.seconds) }
        for (key in listOf("a", "b")) schedule.put(key, every10)
        pass(12.seconds)
        schedule.pauseAll()
        schedule.pauseAll()
        assertTrue(schedule.isPaused)
        assertTrue("$schedule".endsWith(", paused)"), "$schedule")
        schedule.triggerNow("a")
        schedule.put("late", Trigger.at(Instant.ofEpochSecond(15)))
        pass(40.seconds)
        assertEquals(listOf("a"), runs.map { it.key }, "the action goes on, and no other begins")
        assertEquals(1L, schedule.metrics.succeeded)
        assertEquals(20L, schedule.nextDue("a")?.epochSecond)
        schedule.resumeAll()
        schedule.resumeAll()
        pass(ZERO)
        assertFalse(schedule.isPaused)
        pass(25.seconds)
        assertEquals(setOf("a", "b", "late"), runs.drop(1).map { it.key }.toSet())
    }

    @Test
    fun dueTimes_whileTheScheduleIsPaused_areMisfires() = scheduleTest {
        for ((misfire, expected) in listOf(Misfire.FireOnce to 1, Misfire.Skip to 0, Misfire.CatchUp(3) to 3)) {
            runs.clear()
            val schedule = schedule(config(misfire))
            schedule.pauseAll()
            start(schedule)
            schedule.put("a", every10)
            pass(1.minutes)
            assertEquals(0, runs.size)
            schedule.resumeAll()
            pass(5.seconds)
            assertEquals(expected, runs.size, "$misfire")
            schedule.shutdown()
            pass(55.seconds)
        }
    }

    @Test
    fun pauseAll_isWritten_andOneThatIsNotWrittenWinsOverTheStore() = scheduleTest {
        val store = FaultyStore()
        val first = started(store = store)
        first.pauseAll()
        store.failsToApply = true
        pass(6.seconds)
        assertFalse(store.isPaused())
        store.failsToApply = false
        pass(1.minutes)
        assertTrue(store.isPaused())
        first.shutdown()
        val second = schedule(store = store)
        second.resumeAll()
        start(second)
        pass(6.seconds)
        assertFalse(second.isPaused)
        assertFalse(store.isPaused())
        store.inside.setPaused(true)
        second.resync()
        assertTrue(second.isPaused, "by another program")
        second.put("a", every10)
        pass(1.minutes)
        assertEquals(0, runs.size)
    }

    @Test
    fun lastRun_ofEachOutcome() = scheduleTest {
        val schedule = started { if (it.key == "cancelled") delay(1.minutes) }
        schedule.put("cancelled", every10)
        schedule.put("done", every10)
        pass(12.seconds)
        schedule.cancelRun("cancelled")
        pass(ZERO)
        assertEquals(
            listOf(RunOutcome.CANCELLED to 12L, RunOutcome.SUCCEEDED to 10L),
            schedule.entries().map { it.lastOutcome to it.lastRun?.epochSecond },
        )
    }

    @Test
    fun put_beforeTheRowsAreLoaded_replacesTheRow_evenAfterPutIfAbsent() = scheduleTest {
        val store = FaultyStore()
        val first = started(store = store)
        first.put("a", Trigger.fixedDelay(100.seconds))
        first.shutdown()
        val second = schedule(store = store)
        val trigger = Trigger.fixedDelay(500.seconds)
        assertTrue(second.putIfAbsent("a", Trigger.fixedDelay(1_000.seconds)))
        second.put("a", trigger, keepDue = true)
        start(second)
        pass(ZERO)
        assertEquals(trigger, second.entries().single().trigger)
        assertEquals(100L, second.nextDue("a")?.epochSecond)
    }
}
