package baton.scheduler.jdbc

import baton.scheduler.ScheduleRow
import baton.scheduler.Trigger
import baton.scheduler.jdbc.databases.H2Database
import baton.scheduler.jdbc.databases.JdbcStoreFixture
import baton.scheduler.jdbc.databases.PostgresDatabase
import baton.scheduler.jdbc.databases.TestDatabase
import baton.scheduler.jdbc.databases.entry
import baton.scheduler.jdbc.databases.eventually
import java.nio.file.Path
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** Writers whose transactions overlap. SQLite has none: there a second writer waits for the file. */
abstract class LateCommitContract {
    @TempDir lateinit var directory: Path

    internal abstract fun database(): TestDatabase

    private val lazyFixture = lazy { JdbcStoreFixture(database()) }
    private val fixture by lazyFixture

    @AfterEach fun close() = if (lazyFixture.isInitialized()) fixture.close() else Unit

    @Test
    fun row_committedLateWithASmallRevision_isLoadedBySince() = runBlocking {
        val store = fixture.open()
        store.apply(listOf(entry("first")))
        assertEquals(1, store.load(0).size)
        fixture.begin().use { held ->
            fixture.writeByHand(held, "late", "every PT1M", fixture.nextRevision(held))
            fixture.open().edit("early", Trigger.every(1.minutes))
            val early = store.load(1)
            assertEquals(listOf("early"), early.map { it.key })
            held.commit()
            val since = early.single().revision
            val late = store.load(since)
            assertEquals(listOf("late"), late.map { it.key })
            assertTrue(late.single().revision < since)
            assertEquals(0, store.load(since).size)
        }
    }

    @Test
    fun edit_committedLateWithASmallNumber_isEmitted() = runBlocking {
        val store = fixture.openOnIo()
        store.load(0)
        fixture.begin().use { held ->
            fixture.begin().use { rolledBack ->
                val edits = Channel<String>(Channel.UNLIMITED)
                // One takes its number before the collection begins, one is never committed.
                fixture.writeByHand(held, "late", "every PT1M", fixture.nextRevision(held))
                fixture.writeByHand(rolledBack, "never", "every PT1M", fixture.nextRevision(rolledBack))
                val other = fixture.openOnIo()
                other.edit("before", Trigger.every(1.minutes))
                val collection = launch { store.edits().collect { rows -> for (row in rows) edits.send(row.key) } }
                val seen = ArrayList<String>()
                withTimeout(2.minutes) {
                    while ("early" !in seen) {
                        other.edit("early", Trigger.every(1.minutes))
                        delay(20.milliseconds)
                        edits.tryReceive().getOrNull()?.let(seen::add)
                    }
                    held.commit()
                    rolledBack.rollback()
                    while ("late" !in seen) seen += edits.receive()
                    other.edit("last", Trigger.every(1.minutes))
                    while ("last" !in seen) seen += edits.receive()
                }
                assertEquals(setOf("early", "late", "last"), seen.toSet())
                assertEquals(1, seen.count { it == "late" })
                collection.cancel()
            }
        }
    }

    /** The flush takes its revision first, and waits for the row; the edit that holds the row has a greater one. */
    @Test
    fun flush_ofARowThatAnEditHolds_keepsTheEditIfOnlyTheDueTimeIsNew() {
        for (isEdited in listOf(false, true)) {
            val key = "key $isEdited"
            val store = fixture.open()
            val known = runBlocking { store.apply(listOf(entry(key))) }
            val committed = CountDownLatch(1)
            val held = fixture.begin()
            held.createStatement().use {
                it.execute("UPDATE checks SET trigger_text = 'edit' WHERE entry_key = '$key'")
            }
            val flush = thread {
                runBlocking { store.apply(listOf(entry(key, "flush", known, isEdited), entry("other $isEdited"))) }
                committed.countDown()
            }
            assertTrue(!committed.await(300, TimeUnit.MILLISECONDS), "it waits for the row")
            val revision = fixture.nextRevision(held)
            held.createStatement().use {
                it.execute("UPDATE checks SET revision = $revision, writer = 'hand' WHERE entry_key = '$key'")
                it.execute("INSERT INTO checks_edits (entry_key, revision, writer) VALUES ('$key', $revision, 'hand')")
            }
            held.commit()
            held.close()
            flush.join()
            val rows: Map<String, ScheduleRow<String>> = runBlocking { fixture.open().load(0) }.associateBy { it.key }
            assertEquals(if (isEdited) "flush" else "edit", rows.getValue(key).trigger)
            assertTrue(rows.getValue(key).revision > revision)
            assertTrue("other $isEdited" in rows)
        }
    }

    @Test
    fun newRowOfTwoWriters_isWrittenByBoth() {
        val held = fixture.begin()
        fixture.writeByHand(held, "a", "every PT1M", fixture.nextRevision(held))
        val editor = fixture.open()
        val edit = thread { runBlocking { editor.edit("a", Trigger.every(7.minutes)) } }
        edit.join(300)
        assertTrue(edit.isAlive, "it waits for the row")
        held.commit()
        held.close()
        edit.join()
        assertEquals(listOf("every PT7M"), runBlocking { fixture.open().load(0) }.map { it.trigger })
    }

    @Test
    fun manyWriters_loseNoEdit() = runBlocking {
        val store = fixture.openOnIo()
        store.load(0)
        val found = java.util.concurrent.ConcurrentHashMap<String, ScheduleRow<String>>()
        val collection = launch { store.edits().collect { rows -> for (row in rows) found[row.key] = row } }
        delay(50.milliseconds)
        val writers =
            List(4) { writer ->
                launch(kotlinx.coroutines.Dispatchers.IO) {
                    val other = fixture.openOnIo()
                    repeat(25) { other.edit("$writer $it", Trigger.every((it + 1).seconds)) }
                    other.close()
                }
            }
        for (writer in writers) writer.join()
        val all = store.load(1).map { it.key }
        eventually { found.size == 100 }
        assertEquals(100, all.size)
        collection.cancel()
    }
}

class H2LateCommitTest : LateCommitContract() {
    override fun database(): TestDatabase = H2Database(directory)
}

class PostgresLateCommitTest : LateCommitContract() {
    override fun database(): TestDatabase = PostgresDatabase()
}
