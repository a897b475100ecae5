package baton.scheduler.journal

import baton.scheduler.JournalDamagedException
import baton.scheduler.JournalLockedException
import baton.scheduler.JournalScheduleStore
import baton.scheduler.KeyCodec
import baton.scheduler.journal.crash.JournalCrashChild
import java.nio.file.Files
import java.nio.file.NoSuchFileException
import java.nio.file.Path
import java.util.concurrent.CountDownLatch
import kotlin.io.path.readText
import kotlin.io.path.writeText
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancel
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The refusals of a store, and its state after closing and cancellation. */
internal class JournalRefusalTest : JournalStoreFixture() {
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

    /** A process loses its lock on a file when it closes any channel to it. */
    @Test
    fun secondStore_ofTheSameProcess_leavesTheLockAgainstOthers() = runBlocking {
        open().apply(listOf(row("a")))
        val second = open()
        assertThrows<JournalLockedException> { second.load(0) }
        second.close()
        val other = JournalCrashChild.start(path, batch = 2)
        val line = other.inputReader().use { it.readLine() }
        other.destroyForcibly().waitFor()
        assertTrue("is in use by process ${ProcessHandle.current().pid()}" in line, line)
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
        val refusal = assertThrows<NoSuchFileException> { store.load(0) }
        val missing = directory.toRealPath().resolve("missing")
        assertEquals(missing, Path.of(refusal.file).toAbsolutePath())
        assertEquals(
            "${refusal.file}: the directory of checks.journal does not exist, create it first",
            refusal.message,
        )
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

    private companion object {
        const val STOP = "stop"
    }
}
