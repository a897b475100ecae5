package baton.scheduler.journal

import baton.Priority
import baton.scheduler.JournalScheduleStore
import baton.scheduler.KeyCodec
import baton.scheduler.PausedBy
import baton.scheduler.ScheduleRow
import java.nio.file.Files
import kotlin.io.path.fileSize
import kotlin.io.path.readBytes
import kotlin.random.Random
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

internal class JournalScheduleStoreTest : JournalStoreFixture() {
    @Test
    fun rows_survive_asTheyWereApplied() = runBlocking {
        val rows = List(200) { Random(it).nextRow() }.distinctBy { it.key }.filter { !it.deleted }
        val store = open()
        assertEquals(emptySet<String>(), store.keys())
        val revision = store.apply(rows)
        val expected = texts(rows.map { it.with(revision) })
        assertEquals(expected, texts(store.load(0)))
        store.close()
        assertEquals(expected, texts(open().load(0)))
    }

    @Test
    fun apply_beforeLoad_goesOnFromTheLastRevision() = runBlocking {
        var last = 0L
        repeat(5) {
            val store = open()
            val revision = store.apply(listOf(row("run $it"), deleted("run ${it - 1}")))
            assertTrue(revision > last, "$revision after $last")
            last = revision
            store.close()
        }
        assertEquals(setOf("run 4"), open().keys())
    }

    @Test
    fun apply_ofOneKeyTwice_keepsTheLast() = runBlocking {
        val store = open()
        store.apply(listOf(row("a", due = 1), row("a", due = 2)))
        assertEquals(2, store.load(0).single().nextDue!!.epochSecond)
    }

    @Test
    fun tenRows_appliedForever_needLessThan256KiB() = runBlocking {
        val store = open()
        for (i in 1..3_000L) {
            store.apply(List(10) { row("check $it", "fixed delay of check $it", due = i) })
            assertTrue(path.fileSize() < 256 * 1024, "${path.fileSize()} bytes")
        }
        store.close()
        assertEquals(List(10) { 3_000L }, open().load(0).map { it.nextDue!!.epochSecond })
    }

    @Test
    fun tenRows_leftOfManyThousand_needLessThan256KiB() = runBlocking {
        val store = open()
        val keys = List(20_000) { "check $it" }
        store.apply(keys.map { row(it) })
        assertTrue(path.fileSize() > 600_000, "${path.fileSize()} bytes")
        store.apply(keys.drop(10).map(::deleted))
        assertTrue(path.fileSize() < 256 * 1024, "${path.fileSize()} bytes")
        assertEquals(10, store.load(0).size)
    }

    @ParameterizedTest
    @ValueSource(ints = [1, 2, 3])
    fun rows_overRandomBatchesAndRestarts_areThoseOfAMap(number: Int) = runBlocking {
        val random = Random(number)
        val model = HashMap<String, JournalRow>()
        var store = open()
        repeat(300) {
            val rows =
                List(random.nextInt(1, 30)) {
                        val key = "key ${random.nextInt(60)}"
                        if (random.nextInt(4) == 0) deleted(key)
                        else row(key, "t".repeat(random.nextInt(400)), random.nextLong(1000))
                    }
                    .distinctBy { it.key }
            val revision = store.apply(rows)
            for (row in rows) if (row.deleted) model.remove(row.key) else model[row.key] = row.with(revision)
            if (random.nextInt(20) == 0) {
                store.close()
                store = open()
            }
            if (random.nextInt(10) == 0) {
                val since = random.nextLong(revision + 1)
                assertEquals(texts(model.values.filter { it.revision > since }), texts(store.load(since)))
            }
        }
        assertTrue(path.fileSize() < 200_000, "${path.fileSize()} bytes")
        assertEquals(texts(model.values), texts(store.load(0)))
    }

    @Test
    fun calls_fromManyThreads_areOneAfterTheOther() = runBlocking {
        val store = open()
        val revisions =
            withContext(Dispatchers.Default) {
                (0 until 200)
                    .map {
                        async {
                            store.load(0).size.also { size -> assertTrue(size <= 200) }
                            store.apply(listOf(row("$it")))
                        }
                    }
                    .awaitAll()
            }
        assertEquals((1L..200L).toList(), revisions.sorted())
        assertEquals(200, store.load(0).size)
    }

    @Test
    fun longKeys_areLoadedAsWritten() = runBlocking {
        val store = JournalScheduleStore(path, KeyCodec.LONG).also(stores::add)
        val keys = listOf(0, 1, -1, Long.MAX_VALUE, Long.MIN_VALUE)
        store.apply(keys.map { ScheduleRow(it, "every PT1S", Priority.IDLE, null, PausedBy.USER, deleted = false, 0) })
        assertEquals(keys.toSet(), store.load(0).map { it.key }.toSet())
    }

    @Test
    fun journal_cutAtAnyByte_goesOnFromItsWholeBatches() = runBlocking {
        val store = open()
        store.load(0)
        val ends = mutableListOf(path.fileSize())
        repeat(3) {
            store.apply(listOf(row("a", due = it.toLong()), row("b$it")))
            ends += path.fileSize()
        }
        store.close()
        val bytes = path.readBytes()
        for (length in JournalCodec.HEADER_BYTES until bytes.size) {
            Files.write(path, bytes.copyOf(length))
            val cut = open()
            val whole = ends.indexOfLast { it <= length }.coerceAtLeast(0)
            assertEquals((0 until whole).map { "b$it" }.toSet(), cut.keys() - "a", "of $length bytes")
            assertEquals(whole + 1L, cut.apply(listOf(row("c"))))
            cut.close()
        }
    }

    @Test fun edits_areNone() = runBlocking { assertEquals(emptyList<Any>(), open().edits().toList()) }

    @Test
    fun toString_namesThePath() = assertEquals("JournalScheduleStore (path = $path, fsync = false)", open().toString())
}
