package baton.scheduler.journal.crash

import baton.scheduler.JournalLockedException
import baton.scheduler.JournalScheduleStore
import baton.scheduler.KeyCodec
import baton.scheduler.journal.JournalRow
import baton.scheduler.journal.deleted
import baton.scheduler.journal.row
import baton.scheduler.journal.texts
import baton.scheduler.journal.with
import java.nio.file.Path
import kotlin.io.path.fileSize
import kotlin.random.Random
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.assertThrows

/** Kills the [JournalCrashChild] again and again, and checks what it leaves. */
internal class JournalCrashes(private val path: Path, number: Int) {
    private val random = Random(number)
    private val rows = HashMap<String, JournalRow>()

    /** The last batch that is known to be in the journal. */
    private var last = 0L

    /** How often a batch was there whose number had not been printed. */
    private var unconfirmed = 0

    fun kill(times: Int) {
        repeat(times) { kill() }
        assertTrue(last >= times, "only $last batches")
    }

    private fun kill() {
        val child = JournalCrashChild.start(path, last + 1)
        val confirmed =
            child.inputReader().use { output ->
                var confirmed = 0L
                val enough = last + random.nextLong(1, 60)
                while (confirmed < enough) confirmed = (output.readLine() ?: fail(child)).toLong()
                if (random.nextInt(4) == 0) assertIsRefused(child)
                // A time, not a number: so that the kill meets any step of a batch or a snapshot.
                val end = System.nanoTime() + random.nextLong(3_000_000)
                while (System.nanoTime() < end) Thread.onSpinWait()
                child.toHandle().destroyForcibly() // Unlike the method of the process, it leaves the output readable.
                child.waitFor()
                output.lineSequence().filter { it.isNotEmpty() }.lastOrNull()?.toLong() ?: confirmed
            }
        check(confirmed)
    }

    /** The journal has every confirmed batch, perhaps the whole batch that was under way, and nothing else. */
    private fun check(confirmed: Long) = runBlocking {
        val store = JournalScheduleStore(path, KeyCodec.STRING)
        val found = store.load(0)
        store.close()
        for (number in last + 1..confirmed) addToModel(number)
        if (texts(found) != texts(rows.values)) {
            addToModel(confirmed + 1)
            unconfirmed++
        }
        assertEquals(texts(rows.values), texts(found), "after batch $confirmed")
        assertTrue(path.fileSize() < 256 * 1024, "${path.fileSize()} bytes")
    }

    private fun addToModel(number: Long) {
        for (row in JournalCrashChild.batch(number)) {
            if (row.deleted) rows.remove(row.key) else rows[row.key] = row.with(revision = number)
        }
        last = number
    }

    private fun assertIsRefused(child: Process) = runBlocking {
        val store = JournalScheduleStore(path, KeyCodec.STRING)
        val refusal = assertThrows<JournalLockedException> { store.load(0) }
        assertEquals(child.pid(), refusal.pid)
        assertEquals("journal ${path.toRealPath()} is in use by process ${child.pid()}", refusal.message)
    }

    private fun fail(child: Process): Nothing = error("the child has ended by itself: ${child.waitFor()}")

    override fun toString() = "$last batches, of which $unconfirmed were written and not confirmed"
}
