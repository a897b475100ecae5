package baton.test

import baton.Priority
import baton.scheduler.PausedBy
import baton.scheduler.RunOutcome
import baton.scheduler.Schedule
import baton.scheduler.ScheduleRow
import baton.scheduler.ScheduleStore
import baton.scheduler.Trigger
import java.time.Instant
import java.util.concurrent.ExecutionException
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.future.future
import kotlinx.coroutines.launch
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * The contract of a [ScheduleStore], as JUnit tests for a store of your own. They run in real time, a few seconds in
 * all.
 *
 * ```
 * class RedisScheduleStoreTest : ScheduleStoreContract() {
 *     override fun open() = RedisScheduleStore(url, prefix = "$testRun")
 * }
 * ```
 *
 * The tests cannot cause writes that fail halfway, nor edits of other writers, and do not cover them.
 */
public abstract class ScheduleStoreContract {
    /** A new object for the same rows, of which there are none at the beginning of each test. Each one is closed. */
    protected abstract fun open(): ScheduleStore<String>

    /** Keys that are hard to keep. A store that refuses some of them says so in its own documentation. */
    protected open val hardKeys: List<String>
        get() = listOf("", "a", "two words", "line\nbreak", "it's \\ \"%_\"", "ünïcødé 🎉")

    private fun row(key: String, nextDue: Instant? = null, deleted: Boolean = false) =
        ScheduleRow(key, "every PT2M", Priority.LOW, nextDue, pausedBy = null, deleted, revision = 0)

    private fun textOf(row: ScheduleRow<String>) =
        row.run { "$key $trigger $priority $nextDue $pausedBy $deleted ${data?.toList()} $lastRun $lastOutcome" }

    /**
     * By a future: runBlocking links to a function that kotlinx.coroutines has under another name in older versions.
     */
    private fun run(test: suspend CoroutineScope.() -> Unit) {
        try {
            CoroutineScope(Dispatchers.Default).future { withTimeout(2.minutes, test) }.get()
        } catch (e: ExecutionException) {
            throw e.cause ?: e
        }
    }

    private suspend fun <T> withStore(block: suspend (ScheduleStore<String>) -> T): T {
        val store = open()
        try {
            return block(store)
        } finally {
            store.close()
        }
    }

    /** A store without rows loads none. */
    @Test
    public fun load_empty_returnsNoRow() {
        run { assertEquals(emptyList<String>(), withStore { it.load(0).map(::textOf) }) }
    }

    /** Keys, triggers, priorities, due times, pauses, data and last runs are loaded as they were written. */
    @Test
    public fun rows_applied_areLoadedAsTheyWere() {
        val rows = ArrayList<ScheduleRow<String>>()
        for (key in hardKeys) for (priority in Priority.entries) {
            rows += ScheduleRow("$key $priority", "named x\ty", priority, null, null, deleted = false, revision = 7)
        }
        for (pause in PausedBy.entries) rows +=
            ScheduleRow("paused by $pause", "every PT2M", Priority.LOW, null, pause, deleted = false, revision = 0)
        for (outcome in RunOutcome.entries) rows +=
            ScheduleRow(
                "last $outcome",
                "every PT2M",
                Priority.LOW,
                null,
                null,
                deleted = false,
                revision = 0,
                ByteArray(257) { it.toByte() },
                Instant.parse("2100-01-01T00:00:00.000017Z"),
                outcome,
            )
        for (size in listOf(0, 1, 65_536)) rows +=
            ScheduleRow(
                "data $size",
                "every PT2M",
                Priority.LOW,
                null,
                null,
                deleted = false,
                0,
                ByteArray(size) { -1 },
            )
        val dues = listOf(Instant.EPOCH, Instant.MAX, Instant.MIN, Instant.ofEpochSecond(5, 123))
        dues.forEachIndexed { i, due -> rows += row("due $i", due) }
        run {
            withStore { it.apply(rows) }
            val loaded = withStore { it.load(0) }
            assertEquals(rows.map(::textOf).sorted(), loaded.map(::textOf).sorted())
        }
    }

    /** Whether the schedule is paused as a whole is kept, with and without rows. */
    @Test
    public fun pauseOfTheWhole_isKept() {
        run {
            assertFalse(withStore { it.load(0).let { _ -> it.isPaused() } })
            withStore {
                it.load(0)
                it.setPaused(true)
                assertTrue(it.isPaused())
            }
            withStore {
                it.load(0)
                assertTrue(it.isPaused())
                it.apply(listOf(row("a")))
                assertTrue(it.isPaused())
            }
            withStore {
                assertEquals(1, it.load(0).size)
                it.setPaused(false)
                assertFalse(it.isPaused())
            }
            assertFalse(withStore { it.load(0).let { _ -> it.isPaused() } })
        }
    }

    /** A row takes the place of the one with its key. */
    @Test
    public fun row_appliedAgain_replacesTheFormer() {
        run {
            withStore {
                it.apply(listOf(row("a"), row("b")))
                it.apply(listOf(row("a", Instant.EPOCH)))
                assertEquals(
                    mapOf("a" to Instant.EPOCH, "b" to null),
                    it.load(0).associate { row -> row.key to row.nextDue },
                )
            }
        }
    }

    /** Each batch has a greater revision than all before, also those of former objects. */
    @Test
    public fun revisions_growFromAboveZero_overReopening() {
        run {
            val revisions = ArrayList<Long>()
            repeat(3) { withStore { store -> repeat(3) { revisions += store.apply(listOf(row("a"), row("b"))) } } }
            assertTrue(revisions[0] > 0) { "the first revision is ${revisions[0]}" }
            assertEquals(revisions.distinct().sorted(), revisions)
            assertEquals(List(2) { revisions.last() }, withStore { it.load(0).map { row -> row.revision } })
        }
    }

    /** A load returns what was written after the revision that it names. */
    @Test
    public fun load_sinceARevision_returnsNewerRows() {
        run {
            withStore { store ->
                val first = store.apply(listOf(row("a"), row("b")))
                val second = store.apply(listOf(row("b"), row("c")))
                suspend fun since(revision: Long) = store.load(revision).associate { it.key to it.revision }
                assertEquals(mapOf("b" to second, "c" to second), since(first))
                assertEquals(mapOf("a" to first, "b" to second, "c" to second), since(0))
                assertEquals(emptyMap<String, Long>(), since(second))
            }
        }
    }

    /** Deleted rows are not loaded at the start, and may come back. */
    @Test
    public fun rowsDeleted_areNotLoadedAtTheStart() {
        run {
            withStore {
                it.apply(listOf(row("a"), row("b")))
                it.apply(listOf(row("a", deleted = true), row("never there", deleted = true)))
                assertEquals(listOf("b"), it.load(0).map { row -> row.key })
            }
            withStore {
                assertEquals(listOf("b"), it.load(0).map { row -> row.key })
                it.apply(listOf(row("a")))
                assertEquals(setOf("a", "b"), it.load(0).map { row -> row.key }.toSet())
            }
        }
    }

    /** A write of the object itself is no edit of others. */
    @Test
    public fun edits_areNeverOwnWrites() {
        run {
            withStore { store ->
                val seen = ArrayList<String>()
                val edits =
                    launch(start = CoroutineStart.UNDISPATCHED) {
                        store.edits().collect { rows -> rows.mapTo(seen) { it.key } }
                    }
                store.apply(listOf(row("a")))
                delay(A_WHILE)
                edits.cancelAndJoin()
                assertEquals(emptyList<String>(), seen)
            }
        }
    }

    /** A second schedule goes on with the entries of the first, which has closed its store. */
    @Test
    public fun schedule_restarted_goesOnFromTheStore() {
        run {
            val first = Schedule(open()) {}
            first.put("every", Trigger.every(2.hours, Instant.EPOCH), Priority.HIGH)
            first.put("paused", Trigger.every(1.hours))
            first.put("at", Trigger.at(Instant.parse("2100-01-01T00:00:00.000017Z")))
            first.put("removed", Trigger.every(1.hours))
            first.pause("paused")
            first.flush()
            first.remove("removed")
            val keys = listOf("every", "paused", "at", "removed")
            val dues = keys.map(first::nextDue)
            first.shutdown()
            val second = Schedule(open()) {}
            val running = launch { second.run() }
            second.resync()
            assertEquals(dues, keys.map(second::nextDue))
            assertEquals(3, second.size)
            running.cancelAndJoin()
        }
    }

    private companion object {
        /** Long enough for what a store does in the background. */
        val A_WHILE = 500.milliseconds
    }
}
