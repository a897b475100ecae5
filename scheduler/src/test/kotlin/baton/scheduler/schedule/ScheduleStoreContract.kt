package baton.scheduler.schedule

import baton.Priority
import baton.scheduler.PausedBy
import baton.scheduler.RunOutcome
import baton.scheduler.Schedule
import baton.scheduler.ScheduleRow
import baton.scheduler.Trigger
import java.time.Instant
import java.time.LocalTime
import java.time.ZoneId
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The contract of every store. */
abstract class ScheduleStoreContract : ScheduleClockContract() {
    /** Keys that are hard to keep. */
    protected open val hardKeys = listOf("", "a", "two words", "line\nbreak", "\u0000", "ünïcødé 🎉")

    private fun row(key: String, nextDue: Instant? = null, deleted: Boolean = false) =
        ScheduleRow(key, "every PT2M", Priority.LOW, nextDue, pausedBy = null, deleted, revision = 0)

    private fun textOf(row: ScheduleRow<String>) =
        row.run { "$key $trigger $priority $nextDue $pausedBy $deleted ${data?.toList()} $lastRun $lastOutcome" }

    @Test fun load_empty_returnsNoRow() = runTest { assertEquals(0, open().load(0).size) }

    @Test
    fun rows_applied_areLoadedAsTheyWere() = runTest {
        val rows = ArrayList<ScheduleRow<String>>()
        for (key in hardKeys) for (priority in Priority.entries) rows +=
            ScheduleRow("$key $priority", "named x\ty", priority, null, PausedBy.USER.takeIf { key == "a" }, false, 7)
        for (pause in PausedBy.entries) rows +=
            ScheduleRow("paused by $pause", "every PT2M", Priority.LOW, null, pause, false, 0)
        for ((size, outcome) in listOf(0, 1, 257, 65_536).zip(RunOutcome.entries)) {
            val data = ByteArray(size) { it.toByte() }
            val last = Instant.ofEpochSecond(size.toLong(), 17_000)
            rows += ScheduleRow("ran $outcome", "every PT2M", Priority.LOW, null, null, false, 0, data, last, outcome)
        }
        for ((i, due) in
            listOf(Instant.EPOCH, Instant.MAX, Instant.MIN, Instant.ofEpochSecond(5, 123)).withIndex()) rows +=
            row("due $i", due)
        val store = open()
        store.apply(rows)
        store.close()
        assertEquals(rows.map(::textOf).sorted(), open().load(0).map(::textOf).sorted())
    }

    @Test
    fun revisions_growFromAboveZero_overReopening() = runTest {
        val revisions = ArrayList<Long>()
        repeat(3) {
            val store = open()
            repeat(3) { revisions += store.apply(listOf(row("a"), row("b"))) }
            store.close()
        }
        assertTrue(revisions[0] > 0)
        assertEquals(revisions.distinct().sorted(), revisions)
        assertEquals(listOf(revisions.last(), revisions.last()), open().load(0).map { it.revision })
    }

    @Test
    fun load_sinceARevision_returnsNewerRows() = runTest {
        val store = open()
        val first = store.apply(listOf(row("a"), row("b")))
        val second = store.apply(listOf(row("b"), row("c")))
        assertEquals(setOf("b" to second, "c" to second), store.load(first).map { it.key to it.revision }.toSet())
        assertEquals(
            setOf("a" to first, "b" to second, "c" to second),
            store.load(0).map { it.key to it.revision }.toSet(),
        )
        assertEquals(0, store.load(second).size)
    }

    @Test
    fun rowsDeleted_areNotLoadedAtTheStart() = runTest {
        var store = open()
        store.apply(listOf(row("a"), row("b")))
        store.apply(listOf(row("a", deleted = true), row("never there", deleted = true)))
        assertEquals(listOf("b"), store.load(0).map { it.key })
        store.close()
        store = open()
        assertEquals(listOf("b"), store.load(0).map { it.key })
        store.apply(listOf(row("a", Instant.EPOCH)))
        assertEquals(setOf("a", "b"), store.load(0).map { it.key }.toSet())
    }

    @Test
    fun edits_areNeverOwnWrites() = runTest {
        val store = open()
        val seen = ArrayList<String>()
        val collection = launch { store.edits().collect { rows -> rows.mapTo(seen) { it.key } } }
        runCurrent()
        store.apply(listOf(row("a")))
        delay(5.minutes)
        assertEquals(emptyList<String>(), seen)
        collection.cancel()
    }

    @Test
    fun schedule_restarted_goesOnFromTheStore() = runTest {
        val world = ScheduleWorld(this)
        val triggers = mapOf("hourly" to Trigger { after -> after.plusSeconds(3600) })
        fun schedule(): Schedule<String> = world.schedule(world.config(triggers = triggers), open())
        val first = schedule()
        world.start(first)
        first.put("every", Trigger.every(2.minutes, Instant.EPOCH), Priority.HIGH)
        first.put("hash", Trigger.every(2.minutes))
        first.put("delay", Trigger.fixedDelay(5.minutes), Priority.IDLE)
        first.put("at", Trigger.at(Instant.ofEpochSecond(7200, 17)))
        first.put("done", Trigger.at(Instant.ofEpochSecond(10)))
        first.put("named", Trigger.named("hourly", triggers.getValue("hourly")))
        first.put("paused", Trigger.every(1.minutes))
        first.put("removed", Trigger.every(1.minutes))
        first.put("own", { after -> after.plusSeconds(1000) })
        world.pass(30.seconds)
        first.pause("paused")
        first.remove("removed")
        world.pass(59.minutes)
        val keys = listOf("every", "hash", "delay", "at", "named", "paused", "removed", "done")
        val dues = keys.map(first::nextDue)
        first.shutdown()
        val second = schedule()
        world.start(second)
        world.pass(0.seconds)
        assertEquals(dues, keys.map(second::nextDue))
        assertEquals(6, second.size)
        world.runs.clear()
        world.pass(2.hours)
        assertEquals(setOf("every", "hash", "delay", "at", "named"), world.runs.map { it.key }.toSet())
        assertEquals(
            Priority.HIGH to Priority.IDLE,
            world.runs.let { runs ->
                runs.first { it.key == "every" }.priority to runs.first { it.key == "delay" }.priority
            },
        )
        assertEquals(0, world.failures.size)
        second.shutdown()
    }

    @Test
    fun pauseOfTheWhole_isKept_withAndWithoutRows() = runTest {
        var store = open()
        suspend fun reopened() {
            store.close()
            store = open()
            store.load(0)
        }
        store.load(0)
        assertFalse(store.isPaused())
        store.setPaused(true)
        reopened()
        assertTrue(store.isPaused())
        store.apply(listOf(row("a")))
        assertTrue(store.isPaused())
        reopened()
        assertTrue(store.isPaused())
        store.setPaused(false)
        reopened()
        assertFalse(store.isPaused())
        assertEquals(listOf("a"), store.load(0).map { it.key })
    }

    @Test
    fun stateOfEntries_isKeptOverARestart() = runTest {
        val world = ScheduleWorld(this)
        val data = "payload ü".encodeToByteArray()
        suspend fun started(): Schedule<String> =
            world
                .schedule(store = open()) { if (it.key == "fails") error("down") }
                .also {
                    world.start(it)
                    world.pass(0.seconds)
                }
        val first = started()
        first.put("fails", Trigger.at(Instant.ofEpochSecond(10)), data = data)
        first.put("runs", Trigger.fixedDelay(20.seconds), data = data)
        first.put("paused", Trigger.fixedDelay(20.seconds))
        first.put("kept", Trigger.fixedDelay(100.seconds), data = data)
        first.put("daily", Trigger.daily(LocalTime.of(2, 30), ZoneId.of("Europe/Berlin")))
        world.pass(30.seconds)
        first.pause("paused")
        first.pauseAll()
        fun states(schedule: Schedule<String>) =
            schedule.entries().associate { it.key to "${it.nextDue} ${it.pausedBy} ${it.lastRun} ${it.lastOutcome}" }
        val before = states(first)
        assertEquals("null FAILED_RUN 1970-01-01T00:00:10Z FAILED", before["fails"])
        assertEquals("null USER 1970-01-01T00:00:20Z SUCCEEDED", before["paused"])
        assertEquals("1970-01-01T01:30:00Z null null null", before["daily"])
        first.shutdown()

        val second = started()
        assertEquals(before, states(second))
        assertTrue(second.isPaused)
        world.runs.clear()
        world.pass(60.seconds)
        assertEquals(0, world.runs.size)
        second.put("kept", Trigger.fixedDelay(100.seconds), keepDue = true)
        second.resumeAll()
        world.pass(0.seconds)
        assertEquals(listOf("runs" to "payload ü"), world.runs.map { it.key to it.text })
        second.triggerNow("fails")
        world.pass(0.seconds)
        assertArrayEquals(data, world.runs.last().data)
        second.shutdown()

        val third = world.schedule(store = open())
        third.put("kept", Trigger.fixedDelay(100.seconds), Priority.HIGH, keepDue = true)
        third.put("paused", Trigger.fixedDelay(5.seconds), keepDue = true)
        third.putIfAbsent("runs", Trigger.fixedDelay(1.seconds))
        third.putIfAbsent("new", Trigger.fixedDelay(1000.seconds))
        world.start(third)
        world.pass(0.seconds)
        assertEquals(
            listOf(100L, null, 110L, 1090L),
            listOf("kept", "paused", "runs", "new").map { third.nextDue(it)?.epochSecond },
        )
        assertEquals(PausedBy.FAILED_RUN, third.entries().single { it.key == "fails" }.pausedBy)
        assertFalse(third.isPaused)
        world.runs.clear()
        world.pass(20.seconds)
        assertEquals(
            listOf("kept null HIGH", "runs payload ü NORMAL"),
            world.runs.map { "${it.key} ${it.text} ${it.priority}" },
        )
        third.shutdown()
    }

    @Test
    fun triggerThatHasThrown_isTriedAgainAtTheNextStart_andIsNoPause() = runTest {
        val world = ScheduleWorld(this)
        var isBroken = false
        val named = Trigger { after -> if (isBroken) error("no calendar") else after.plusSeconds(60) }
        suspend fun started(): Schedule<String> =
            world.schedule(world.config(triggers = mapOf("n" to named)), open()).also {
                world.failures.clear()
                world.start(it)
                world.pass(0.seconds)
            }
        val first = started()
        for (key in listOf("fires", "paused")) first.put(key, Trigger.named("n", named))
        first.pause("paused")
        world.pass(30.seconds)
        isBroken = true
        first.put("put", Trigger.named("n", named))
        world.pass(1.minutes)
        assertEquals(listOf<Any>("put", "fires"), world.failures.map { it.first })
        assertEquals(listOf(60L), world.timesOf("fires"), "the run takes place all the same")
        first.shutdown()
        val second = started()
        assertEquals(setOf<Any>("put", "fires"), world.failures.map { it.first }.toSet())
        second.shutdown()
        isBroken = false
        val third = started()
        assertEquals(listOf(150L, 150L, null), listOf("put", "fires", "paused").map { third.nextDue(it)?.epochSecond })
        assertEquals(0, world.failures.size)
        third.shutdown()
    }
}

/** Its rows live as long as the object. */
class InMemoryScheduleStoreTest : ScheduleStoreContract() {
    private val store = baton.scheduler.InMemoryScheduleStore<String>()

    override fun open() = store

    @Test fun toString_showsTheSize() = assertEquals("InMemoryScheduleStore (size = 0)", "$store")
}
