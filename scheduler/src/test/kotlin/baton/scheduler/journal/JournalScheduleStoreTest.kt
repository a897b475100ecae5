package baton.scheduler.journal

import baton.Priority
import baton.scheduler.JournalDamagedException
import baton.scheduler.JournalLockedException
import baton.scheduler.JournalScheduleStore
import baton.scheduler.KeyCodec
import baton.scheduler.ScheduleRow
import baton.scheduler.ScheduleStore
import java.nio.file.Files
import java.nio.file.NoSuchFileException
import java.nio.file.Path
import java.util.concurrent.CountDownLatch
import kotlin.io.path.fileSize
import kotlin.io.path.readBytes
import kotlin.io.path.readText
import kotlin.io.path.writeText
import kotlin.random.Random
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancel
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

class JournalScheduleStoreTest {
    @TempDir private lateinit var directory: Path
    private val path
        get() = directory.resolve("checks.journal")

    private val stores = mutableListOf<ScheduleStore<*>>()

    private fun open(file: Path = path): JournalScheduleStore<String> =
        JournalScheduleStore(file, KeyCodec.STRING, fsync = false).also(stores::add)

    @AfterEach fun close() = runBlocking { stores.forEach { it.close() } }

    private suspend fun JournalScheduleStore<String>.keys(since: Long = 0) = load(since).map { it.key }.toSet()

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
    fun load_sinceARevision_returnsNewerRows() = runBlocking {
        val store = open()
        val first = store.apply(listOf(row("a"), row("b"), row("c")))
        val second = store.apply(listOf(row("b"), deleted("c")))
        assertTrue(first in 1..<second)
        assertEquals(setOf("a", "b"), store.keys())
        assertEquals(setOf("b"), store.keys(since = first))
        assertEquals(emptySet<String>(), store.keys(since = second))
        assertEquals(emptySet<String>(), store.keys(since = Long.MAX_VALUE))
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
    fun secondStore_ofTheSameFile_isRefusedByPathAndProcess() = runBlocking {
        val first = open()
        first.apply(listOf(row("a")))
        val link = Files.createSymbolicLink(directory.resolve("link"), path)
        val relative = Path.of("").toAbsolutePath().relativize(path.toRealPath())
        for (other in listOf(path, link, relative, directory.resolve("./x/../checks.journal").normalize())) {
            val second = open(other)
            for (call in listOf<suspend () -> Unit>({ second.load(0) }, { second.apply(listOf(row("b"))) })) {
                val refusal = assertThrows<JournalLockedException> { call() }
                assertEquals(path.toRealPath(), refusal.path)
                assertEquals(ProcessHandle.current().pid(), refusal.pid)
                assertTrue(path.toRealPath().toString() in refusal.message!!, refusal.message)
                assertTrue("${refusal.pid}" in refusal.message!!, refusal.message)
            }
        }
        first.apply(listOf(row("c")))
        first.close()
        assertEquals(setOf("a", "c"), open().keys())
    }

    @Test
    fun close_freesTheFile_andLoadOpensItAgain() = runBlocking {
        val store = open()
        store.apply(listOf(row("a")))
        repeat(2) { store.close() }
        val closed = assertThrows<IllegalStateException> { store.apply(listOf(row("b"))) }
        assertEquals("journal $path is closed", closed.message)
        val other = open()
        other.apply(listOf(row("b")))
        assertThrows<JournalLockedException> { store.load(0) }
        other.close()
        assertEquals(setOf("a", "b"), store.keys())
        assertEquals(3, store.apply(listOf(row("c"))))
    }

    @Test
    fun close_ofACancelledCaller_freesTheFile() = runBlocking {
        val store = open()
        store.apply(listOf(row("a")))
        coroutineScope { launch { cancel().also { store.close() } } }
        assertEquals(setOf("a"), open().keys())
    }

    /** A key whose encoding stops until it is released. */
    private class StoppingCodec : KeyCodec<String> {
        val begun = CountDownLatch(1)
        val release = CountDownLatch(1)

        override fun encode(key: String): String {
            if (key == STOP) {
                begun.countDown()
                release.await()
            }
            return key
        }

        override fun decode(text: String) = text
    }

    @Test
    fun apply_cancelled_returnsAtOnceAndWritesAllOrNothing() = runBlocking {
        val codec = StoppingCodec()
        val store = JournalScheduleStore(path, codec).also(stores::add)
        val begun = launch(start = CoroutineStart.UNDISPATCHED) { store.apply(listOf(row("a"), row(STOP), row("b"))) }
        codec.begun.await()
        val waiting = launch(start = CoroutineStart.UNDISPATCHED) { store.apply(listOf(row("c"))) }
        val later = async(start = CoroutineStart.UNDISPATCHED) { store.apply(listOf(row("d"))) }
        begun.cancelAndJoin()
        waiting.cancelAndJoin()
        codec.release.countDown()
        assertEquals(2, later.await())
        assertEquals(setOf("a", STOP, "b", "d"), store.load(0).map { it.key }.toSet())
    }

    @Test
    fun apply_ofACancelledCaller_writesNothing() = runBlocking {
        val store = open()
        val scope = CoroutineScope(Dispatchers.Default)
        val call = scope.async(start = CoroutineStart.UNDISPATCHED) { cancel().also { store.apply(listOf(row("a"))) } }
        assertThrows<CancellationException> { call.await() }
        assertEquals(emptySet<String>(), store.keys())
    }

    @Test
    fun apply_ofARowThatIsTooLong_writesNoneOfTheBatch() = runBlocking {
        val store = open()
        store.apply(listOf(row("a")))
        assertThrows<IllegalArgumentException> { store.apply(listOf(row("b"), row("k".repeat(70_000)))) }
        assertEquals(2, store.apply(listOf(row("c"))))
        assertEquals(setOf("a", "c"), store.keys())
    }

    @Test
    fun badArguments_areRefused() = runBlocking {
        val store = open()
        assertEquals(
            "since = -1, must be at least 0",
            assertThrows<IllegalArgumentException> { store.load(-1) }.message,
        )
        assertThrows<IllegalArgumentException> { store.apply(emptyList()) }
        assertTrue(Files.list(directory).use { it.count() } == 0L)
    }

    @Test
    fun load_byAnotherCodec_isRefusedWithTheKey() = runBlocking {
        open().run { apply(listOf(row("a"))).also { close() } }
        val store = JournalScheduleStore(path, KeyCodec.LONG).also(stores::add)
        val refusal = assertThrows<IllegalStateException> { store.load(0) }
        assertEquals("journal $path holds the key 'a', which is none of the codec LONG", refusal.message)
        assertTrue(generateSequence<Throwable>(refusal) { it.cause }.any { it is NumberFormatException })
    }

    @Test
    fun longKeys_areLoadedAsWritten() = runBlocking {
        val store = JournalScheduleStore(path, KeyCodec.LONG).also(stores::add)
        val keys = listOf(0, 1, -1, Long.MAX_VALUE, Long.MIN_VALUE)
        store.apply(keys.map { ScheduleRow(it, "every PT1S", Priority.IDLE, null, paused = true, deleted = false, 0) })
        assertEquals(keys.toSet(), store.load(0).map { it.key }.toSet())
    }

    @Test
    fun file_thatIsNoJournal_isRefusedAndLeftAsItIs() = runBlocking {
        for (content in listOf("x", "name,url\n", "a text that is somewhat longer than the header of a journal\n")) {
            path.writeText(content)
            val store = open()
            assertEquals(0, assertThrows<JournalDamagedException> { store.load(0) }.offset)
            assertThrows<JournalDamagedException> { store.apply(listOf(row("a"))) }
            assertEquals(content, path.readText())
        }
    }

    @Test
    fun file_thatIsEmpty_becomesAJournal() = runBlocking {
        Files.createFile(path)
        open().run { apply(listOf(row("a"))).also { close() } }
        assertEquals(setOf("a"), open().keys())
    }

    @Test
    fun file_inAMissingDirectory_isRefused() = runBlocking {
        val store = open(directory.resolve("missing/checks.journal"))
        assertNotNull(assertThrows<NoSuchFileException> { store.load(0) }.message)
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
        for (length in bytes.indices) {
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
    fun toString_names_thePath() = assertEquals("JournalScheduleStore (path = $path, fsync = false)", open().toString())

    private companion object {
        const val STOP = "stop"
    }
}
